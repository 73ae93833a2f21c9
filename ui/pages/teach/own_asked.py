"""A sentence of one's own and the one label of it that is explained: what the figures about it share."""

from __future__ import annotations

from dataclasses import dataclass

from inference.questions.labels import NUMBER, Said
from ui.run.shelf import backend
from ui.show.provenance import named


@dataclass(frozen=True, eq=False)
class Asked:
    """A sentence, what was said of it, and the one label that is explained."""

    model: str
    text: str
    said: Said
    place: int  # among what has a label
    at: int | None  # the token that carries the tag; None where the whole text has the label
    wanted: int | None  # the label that the reader asks about
    word: str = ""  # whose tag it is

    @property
    def label(self) -> int:
        """Number of the label that is explained."""
        there = self.wanted is not None and self.wanted < len(self.said.names)
        return self.wanted if there and self.wanted is not None else self.said.likeliest(self.place)

    @property
    def what(self) -> str:
        """The watched number in words."""
        name = f"“{self.said.names[self.label]}”"
        return f"the number {name}" if self.said.sort == NUMBER else f"the logit of {name}"


def about(asked: Asked) -> dict[str, str]:
    """Where the numbers come from, as the files that are saved say it."""
    return {**named(backend().identity(asked.model)), "text": asked.text}
