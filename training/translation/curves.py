"""The curves of a translator's run: loss, what is right when told the translation so far, and whole translations."""

from __future__ import annotations

from pathlib import Path

from training import metrics
from training.svg_charts import Panel, largest_value, line, svg


def curves(file: Path) -> str:
    """The SVG of a metrics.jsonl: losses, shares and scores, by millions of pieces read, of both languages together."""
    scores = metrics.lines(file, "evaluation")
    losses = [
        line("training, labels smoothed", metrics.lines(file, "step"), "piece_loss"),
        line("held-out sentences", scores, "piece_loss"),
    ]
    shares = [
        line("next piece right", scores, "accuracy"),
        line("words aligned, best head", metrics.lines(file, "alignment"), "share"),
    ]
    whole = [line("BLEU, greedy", scores, "bleu"), line("chrF, greedy", scores, "chrf")]
    return svg(
        [
            Panel("Loss, nats a piece", losses, largest_value(losses)),
            Panel("Shares", shares, 1.0),
            Panel("Translations of held-out sentences, 0 to 100", whole, 100.0),
        ]
    )
