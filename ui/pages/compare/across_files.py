"""A set as files: every head's figures, and one head's divergence in every pair, with what made them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ui.pages.compare.across_measured import Place, Set
from ui.run.shelf import backend
from ui.show.csv_table import below, csv_table
from ui.state.choice import Choice

HEADS = ["layer", "head", "change in bits", "change, low", "change, high", "control in bits", "control, low",
         "control, high", "change less control", "less control, low", "less control, high", "verdict",
         "p, two-sided, corrected"]  # fmt: skip


def heads_csv(found: Set, choice: Choice) -> str:
    """A line for each head; no number where nothing is known."""
    told = found.across
    means = (told.change, told.control, told.more)
    lines = (
        [*found.place(at), *(_known(values[at]) for mean in means for values in (mean.mean, mean.low, mean.high)),
         told.verdict(at), _known(told.p[at]) if told.tested else None]
        for at in range(len(told.p))
    )  # fmt: skip
    return _file(found, choice, HEADS, lines)


def pairs_of_head_csv(found: Set, head: Place, choice: Choice) -> str:
    """A line for each pair."""
    lines = (
        [*head, pair.a, pair.b, "control" if pair.control else "change", pair.words, float(bits)]
        for pair, bits in zip(found.pairs, found.bits[:, head[0], head[1]], strict=True)
    )
    return _file(found, choice, ["layer", "head", "a", "b", "kind", "words that differ", "divergence in bits"], lines)


def _file(found: Set, choice: Choice, names: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    made = backend().identity(choice.model, choice.revision or None)
    about: list[list[object]] = [
        ["revision", made.revision or ""], ["weights sha256", made.weights or ""], ["part", choice.part],
        ["words", choice.words], ["special tokens", choice.special], ["renormalised", choice.renormalise],
        ["pairs sha256", found.digest], ["pairs", len(found.pairs)], ["left out", len(found.left_out)],
    ]  # fmt: skip
    return below(csv_table(["model", made.name], about), csv_table(names, lines))


def _known(value: float) -> float | None:
    number = float(value)
    return None if number != number else number
