"""A run's curves as one small SVG: loss of every logged step, accuracies at every evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from training import metrics

WIDTH, HEIGHT = 720, 240  # of one panel's frame, in pixels
LEFT, TOP, GAP = 56, 36, 64
# Okabe and Ito's colours, told apart by colour-blind readers; their dashes differ too.
STROKES = (
    ("#0072B2", ""),
    ("#D55E00", "6 4"),
    ("#009E73", "2 3"),
    ("#CC79A7", "9 3 2 3"),
    ("#56B4E9", "1 5"),
    ("#555", "12 4"),
)

Line = tuple[str, Sequence[float], Sequence[float]]  # name, across (millions of pieces), up


def curves(file: Path) -> str:
    """The SVG of a metrics.jsonl: losses above, shares of right answers below, by millions of pieces read."""
    steps, scores = metrics.lines(file, "step"), metrics.lines(file, "evaluation")
    losses = [_line("training, pieces", steps, "piece_loss"), _line("training, pairs", steps, "pair_loss")]
    shares: list[Line] = []
    for source in dict.fromkeys(score["source"] for score in scores):
        rows = [score for score in scores if score["source"] == source]
        losses.append(_line(f"{source}, pieces", rows, "piece_loss"))
        kinds = (("top-1", "top1"), ("top-5", "top5"), ("next sentence", "next_sentence"))
        shares += [_line(f"{source}, {name}", rows, key) for name, key in kinds]
    end = max((row["pieces"] / 1e6 for row in steps), default=0.0) or 1.0
    highest = max((value for _, _, values in losses for value in values), default=1.0)
    panels = [
        _panel("Loss, nats", losses, end, highest, TOP),
        _panel("Share of right answers", shares, end, 1.0, TOP + HEIGHT + GAP),
    ]
    size = f'width="{LEFT + WIDTH + 240}" height="{TOP + 2 * (HEIGHT + GAP)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(panels)}</svg>\n'
    )


def _line(name: str, rows: list[dict[str, Any]], key: str) -> Line:
    return name, [row["pieces"] / 1e6 for row in rows], [row[key] for row in rows]


def _panel(title: str, lines: list[Line], end: float, highest: float, top: float) -> str:
    """One frame with its title, its axes' ends and middles, its lines and their names beside it."""
    parts = [
        f'<text x="{LEFT}" y="{top - 12}" font-weight="bold">{escape(title)}</text>',
        f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>',
    ]
    for share in (0.0, 0.5, 1.0):
        x, y = LEFT + WIDTH * share, top + HEIGHT * (1 - share) + 4
        parts.append(
            f'<text x="{LEFT - 6}" y="{y:.0f}" text-anchor="end">{highest * share:.2g}</text>'
            f'<text x="{x:.0f}" y="{top + HEIGHT + 18}" text-anchor="middle">{end * share:.2g} M</text>'
        )
    for index, (name, across, up) in enumerate(lines):
        colour, dash = STROKES[index % len(STROKES)]
        points = " ".join(
            f"{LEFT + WIDTH * x / end:.1f},{top + HEIGHT * (1 - y / highest):.1f}"
            for x, y in zip(across, up, strict=True)
        )
        style = f'fill="none" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dash}"'
        at = top + 12 + 18 * index
        parts.append(
            f'<polyline points="{points}" {style}/><path d="M{LEFT + WIDTH + 10} {at - 4}h24" {style}/>'
            f'<text x="{LEFT + WIDTH + 40}" y="{at}">{escape(name)}</text>'
        )
    return "".join(parts)
