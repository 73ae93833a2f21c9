"""Pairs of texts: those of the app's probes, and files of a reader."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from attention.comparison import by_words
from i18n import _, gettext_lazy, translate
from ui.pages.compare.pair_set_results import PairSet, Place
from ui.paths import ASSETS
from ui.run.services import get_backend
from ui.show.tables import csv_table, model_fields
from ui.state.view_state import ViewState


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


HEADS = ["layer", "head", "change in bits", "change, low", "change, high", "control in bits", "control, low",
         "control, high", "change less control", "less control, low", "less control, high", "verdict",
         "p, two-sided, corrected"]  # fmt: skip


def heads_csv(found: PairSet) -> str:
    """Return a CSV row per head, with empty cells for unknown numbers."""
    told = found.across
    means = (told.change, told.control, told.more)
    lines = (
        [*found.place(at), *(_none_if_nan(values[at]) for mean in means for values in (mean.mean, mean.low, mean.high)),
         told.verdict(at), _none_if_nan(told.p[at]) if told.has_test else None]
        for at in range(len(told.p))
    )  # fmt: skip
    return csv_table(HEADS, lines)


def pairs_of_head_csv(found: PairSet, head: Place) -> str:
    """Return a CSV row per pair, with the divergence of ``head`` in bits."""
    lines = (
        [*head, pair.a, pair.b, "control" if pair.control else "change", pair.words, float(bits)]
        for pair, bits in zip(found.pairs, found.bits[:, head[0], head[1]], strict=True)
    )
    return csv_table(["layer", "head", "a", "b", "kind", "words that differ", "divergence in bits"], lines)


def set_provenance(found: PairSet, choice: ViewState) -> dict[str, Any]:
    """Return the model, the view options and the set of pairs from which a table was computed."""
    return {
        **model_fields(get_backend().identity(choice.model, choice.revision or None)),
        "part": choice.part,
        "words_merged": choice.words,
        "special_tokens_shown": choice.special,
        "rows_renormalised": choice.renormalise,
        "pairs_sha256": found.digest,
        "pairs": len(found.pairs),
        "left_out": len(found.left_out),
    }


def _none_if_nan(value: float) -> float | None:
    number = float(value)
    return None if number != number else number
