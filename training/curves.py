"""The curves of BERT's pre-training: loss of every logged step, accuracies at every evaluation."""

from __future__ import annotations

from pathlib import Path

from training import metrics
from training.svg_charts import Line, Panel, largest_value, line, svg


def curves(file: Path) -> str:
    """The SVG of a metrics.jsonl: losses above, shares of right answers below, by millions of pieces read."""
    steps, scores = metrics.lines(file, "step"), metrics.lines(file, "evaluation")
    losses = [line("training, pieces", steps, "piece_loss"), line("training, pairs", steps, "pair_loss")]
    shares: list[Line] = []
    for source in dict.fromkeys(score["source"] for score in scores):
        rows = [score for score in scores if score["source"] == source]
        losses.append(line(f"{source}, pieces", rows, "piece_loss"))
        kinds = (("top-1", "top1"), ("top-5", "top5"), ("next sentence", "next_sentence"))
        shares += [line(f"{source}, {name}", rows, key) for name, key in kinds]
    return svg([Panel("Loss, nats", losses, largest_value(losses)), Panel("Share of right answers", shares, 1.0)])
