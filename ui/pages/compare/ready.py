"""Ready pairs of texts that differ in one thing: the app's probes, each with its changed text."""

from __future__ import annotations

import json
from dataclasses import dataclass

from attention.aligned_texts import by_words
from ui.places import ASSETS
from wording import _, sentence, told


@dataclass(frozen=True)
class Pair:
    """Two texts and what they are called."""

    family: str
    name: str
    text: str
    other: str

    def called(self) -> str:
        """Its name with its family's, in the language that is spoken."""
        return _("{family}: {name}", family=told(self.family), name=told(self.name))


PAIRS: tuple[Pair, ...] = tuple(
    Pair(sentence(family), sentence(name), probe["text"], probe["other"])
    for probe in json.loads((ASSETS / "probes.json").read_text(encoding="utf-8"))
    for family, name in [(probe["family"], probe["name"])]
    if probe.get("other")
)


def other_of(text: str) -> str:
    """The ready text that differs from this one in one thing; "" where there is none.

    >>> tired = PAIRS[0].text
    >>> other_of(tired) == tired.replace("tired", "wide"), other_of(PAIRS[0].other) == tired, other_of("no such text")
    (True, True, '')
    """
    there = {pair.text: pair.other for pair in PAIRS}
    back = {pair.other: pair.text for pair in PAIRS}
    return {**back, **there}.get(text, "")


def alike(text: str, other: str) -> bool:
    """Whether two texts have at least half of their words in common, so that one may stand beside the other unasked.

    >>> alike("it was too tired", "it is too wide"), alike("it was too tired", "the keys are missing")
    (True, False)
    """
    one, two = text.casefold().split(), other.casefold().split()
    same = sum(one[at] == two[there] for at, there in by_words(one, two))
    return 2 * same >= max(len(one), len(two), 1)
