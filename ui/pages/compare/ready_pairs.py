"""Ready pairs of texts that differ in a single detail, from the app's probes."""

from __future__ import annotations

import json
from dataclasses import dataclass

from attention.comparison import by_words
from i18n import _, gettext_lazy, translate
from ui.paths import ASSETS


@dataclass(frozen=True)
class ReadyPair:
    """A named pair of texts."""

    family: str
    name: str
    text: str
    other: str

    def title(self) -> str:
        """Return the translated family and name."""
        return _("{family}: {name}", family=translate(self.family), name=translate(self.name))


PAIRS: tuple[ReadyPair, ...] = tuple(
    ReadyPair(gettext_lazy(family), gettext_lazy(name), probe["text"], probe["other"])
    for probe in json.loads((ASSETS / "probes.json").read_text(encoding="utf-8"))
    for family, name in [(probe["family"], probe["name"])]
    if probe.get("other")
)


def other_of(text: str) -> str:
    """Return the counterpart of a text among the ready pairs, "" if there is none.

    >>> tired = PAIRS[0].text
    >>> other_of(tired) == tired.replace("tired", "wide"), other_of(PAIRS[0].other) == tired, other_of("no such text")
    (True, True, '')
    """
    there = {pair.text: pair.other for pair in PAIRS}
    back = {pair.other: pair.text for pair in PAIRS}
    return {**back, **there}.get(text, "")


def has_common_words(text: str, other: str) -> bool:
    """Return whether two texts share, in order, at least half of the longer text's words.

    >>> (
    ...     has_common_words("it was too tired", "it is too wide"),
    ...     has_common_words("it was too tired", "the keys are missing"),
    ... )
    (True, False)
    """
    one, two = text.casefold().split(), other.casefold().split()
    same = sum(one[at] == two[there] for at, there in by_words(one, two))
    return 2 * same >= max(len(one), len(two), 1)
