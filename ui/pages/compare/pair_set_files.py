"""Tables of a measured set of pairs, as files to save."""

from __future__ import annotations

from typing import Any

from ui.pages.compare.pair_set_results import PairSet, Place
from ui.run.services import get_backend
from ui.show.tables import csv_table, model_fields
from ui.state.view_state import ViewState

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
