"""Training curves as SVG, and the metrics of a run as JSON Lines and Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

WIDTH, HEIGHT = 720, 240  # size of a panel's frame in pixels
LEFT, TOP, GAP = 56, 36, 64
# Okabe and Ito's colours, which colour-blind readers can distinguish; the dashes differ too.
STROKES = (
    ("#0072B2", ""),
    ("#D55E00", "6 4"),
    ("#009E73", "2 3"),
    ("#CC79A7", "9 3 2 3"),
    ("#56B4E9", "1 5"),
    ("#555", "12 4"),
)

Line = tuple[str, Sequence[float], Sequence[float]]  # name, x (millions of tokens), y


@dataclass(frozen=True)
class Panel:
    """A panel of an SVG plot, with its title and lines; the y axis goes from 0 to ``highest``."""

    title: str
    lines: Sequence[Line]
    highest: float


def line(name: str, rows: list[dict[str, Any]], key: str) -> Line:
    """Return a logged value as a line of a plot: (name, x in millions of tokens, y).

    ``rows`` are rows of metrics.jsonl, and ``key`` is the key of the value in each row.
    """
    return name, [row["pieces"] / 1e6 for row in rows], [row[key] for row in rows]


def svg(panels: Sequence[Panel]) -> str:
    """Return an SVG of the panels, stacked vertically with a common x axis."""
    end = max((x for panel in panels for _, across, _ in panel.lines for x in across), default=0.0) or 1.0
    drawn = [
        _draw_frame(panel.title, panel.lines, end, panel.highest, TOP + index * (HEIGHT + GAP))
        for index, panel in enumerate(panels)
    ]
    size = f'width="{LEFT + WIDTH + 240}" height="{TOP + len(panels) * (HEIGHT + GAP)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(drawn)}</svg>\n'
    )


def largest_value(lines: Sequence[Line]) -> float:
    """Return the largest y value of the lines, or 1 if they have no points."""
    return max((value for _, _, values in lines for value in values), default=1.0)


def _draw_frame(title: str, lines: Sequence[Line], end: float, highest: float, top: float) -> str:
    """Return the SVG elements of a panel: title, axis labels, lines and legend."""
    parts = [
        f'<text x="{LEFT}" y="{top - 12}" font-weight="bold">{escape(title)}</text>',
        f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>',
    ]
    for share in (0.0, 0.5, 1.0):
        x, y = LEFT + WIDTH * share, top + HEIGHT * (1 - share) + 4
        parts.append(
            f'<text x="{LEFT - 6}" y="{y:.0f}" text-anchor="end">{highest * share:.3g}</text>'
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


class Metrics:
    """The log of a run: rows of values in metrics.jsonl, and sentences in log.md.

    When a run resumes, metrics.jsonl is truncated to its length at the latest checkpoint.
    """

    def __init__(self, folder: Path, keep_bytes: int) -> None:
        self.folder = folder
        self.file = folder / "metrics.jsonl"
        self.file.touch()
        with self.file.open("r+b") as stream:
            stream.truncate(min(keep_bytes, self.file.stat().st_size))

    def write(self, kind: str, **values: Any) -> None:
        """Append a line to metrics.jsonl: its kind, such as "plan", "step" or "evaluation", and its values."""
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"kind": kind, **values}) + "\n")

    def note(self, sentence: str) -> None:
        """Append a dated line to log.md and print it."""
        line = f"{datetime.now(UTC):%Y-%m-%d %H:%M} {sentence}"
        print(line, flush=True)
        with (self.folder / "log.md").open("a", encoding="utf-8") as stream:
            stream.write(f"- {line}\n")

    @property
    def size(self) -> int:
        """Return the size of metrics.jsonl in bytes."""
        return self.file.stat().st_size


def lines(file: Path, kind: str) -> list[dict[str, Any]]:
    """Return the rows of a metrics.jsonl that have the given kind, in order."""
    rows = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    return [row for row in rows if row["kind"] == kind]


def curves(file: Path) -> str:
    """Return an SVG plot of a metrics.jsonl: losses and accuracies over millions of tokens."""
    steps, scores = lines(file, "step"), lines(file, "evaluation")
    losses = [line("training, pieces", steps, "piece_loss"), line("training, pairs", steps, "pair_loss")]
    shares: list[Line] = []
    for source in dict.fromkeys(score["source"] for score in scores):
        rows = [score for score in scores if score["source"] == source]
        losses.append(line(f"{source}, pieces", rows, "piece_loss"))
        kinds = (("top-1", "top1"), ("top-5", "top5"), ("next sentence", "next_sentence"))
        shares += [line(f"{source}, {name}", rows, key) for name, key in kinds]
    return svg([Panel("Loss, nats", losses, largest_value(losses)), Panel("Share of right answers", shares, 1.0)])
