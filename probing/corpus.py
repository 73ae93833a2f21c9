"""Annotated texts as one value, whatever file they came from."""

from __future__ import annotations

from dataclasses import dataclass

from attention.annotations import AnnotatedText
from i18n import gettext_lazy

ALL = gettext_lazy("all")  # every relation but those of UNCOUNTED, together
UNCOUNTED = frozenset({"punct", "root"})


@dataclass(frozen=True, eq=False)
class AnnotatedCorpus:
    """Items to score heads on. ``directions`` names what looks at what, in the order of attention.annotations."""

    format: str  # "conllu", "gap" or "csv"
    items: tuple[AnnotatedText, ...]
    directions: tuple[str, ...]
    digest: str  # SHA-256 of the format and the file's content
    left_out: int = 0  # rows that ask nothing, such as names that both or neither belong to the pronoun
    together: bool = False  # whether relations are also counted together, as ALL
    guessed: str = ""  # the encoding that was guessed; "" if none was

    @property
    def links(self) -> int:
        """How many links there are to find."""
        return sum(len(item.links) for item in self.items)


@dataclass(frozen=True)
class ParsedCorpus:
    """What a format's parser found in a file."""

    items: tuple[AnnotatedText, ...]
    left_out: int = 0
