"""Cards: counter-examples to a claim about a head, in which the head prefers the wrong noun for a pronoun.

Visitors keep cards, or put them on the board of their class of students.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields

from classroom.errors import wrong_length
from i18n import gettext_lazy

LONGEST_TEXT = 500  # characters of the sentence and of each name
LONGEST_CARD = 4_000  # characters of a card as JSON


@dataclass(frozen=True)
class Card:
    """A counter-example: a sentence in which a head gives the wrong noun more weight from the pronoun.

    ``source`` is the pronoun, ``right`` and ``other`` are the nouns; weights are from 0 to 1. The head also prefers the
    wrong noun in ``fooled`` of ``reworded`` rewordings. ``address`` is the path and query that restore the view.
    """

    model: str
    layer: int
    head: int
    text: str
    source: str
    right: str
    other: str
    right_weight: float
    other_weight: float
    fooled: int
    reworded: int
    address: str

    def to_json(self) -> str:
        """Return the card as JSON; raise NotInClass if the sentence is too long for a card."""
        written = json.dumps(asdict(self), ensure_ascii=False)
        if len(self.text) > LONGEST_TEXT:
            raise wrong_length(gettext_lazy("Sentence"), len(self.text), LONGEST_TEXT)
        if len(written) > LONGEST_CARD:
            raise wrong_length(gettext_lazy("Card"), len(written), LONGEST_CARD)
        return written


@dataclass(frozen=True)
class PostedCard:
    """A card on the board of a class of students; ``student`` is the number of its author, or 0 for the teacher."""

    number: int
    student: int
    own: bool  # True if the visitor who reads the board posted it
    card: Card


def read_card(written: str) -> Card:
    """Return the card from the JSON of ``Card.to_json``."""
    stated = json.loads(written)
    return Card(**{field.name: stated[field.name] for field in fields(Card)})
