"""What a run writes about itself: metrics.jsonl for programs, log.md for people."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


class Metrics:
    """Appends lines to metrics.jsonl, first cut back to where a checkpoint left it."""

    def __init__(self, folder: Path, keep_bytes: int) -> None:
        self.folder = folder
        self.file = folder / "metrics.jsonl"
        self.file.touch()
        with self.file.open("r+b") as stream:
            stream.truncate(min(keep_bytes, self.file.stat().st_size))

    def write(self, kind: str, **values: Any) -> None:
        """One line: its kind ("plan", "step", "evaluation", "slide" or "alignment") and values."""
        with self.file.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"kind": kind, **values}) + "\n")

    def note(self, sentence: str) -> None:
        """One dated line in log.md and on the terminal."""
        line = f"{datetime.now(UTC):%Y-%m-%d %H:%M} {sentence}"
        print(line, flush=True)
        with (self.folder / "log.md").open("a", encoding="utf-8") as stream:
            stream.write(f"- {line}\n")

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self.file.stat().st_size


def lines(file: Path, kind: str) -> list[dict[str, Any]]:
    """The lines of one kind, in order."""
    rows = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    return [row for row in rows if row["kind"] == kind]
