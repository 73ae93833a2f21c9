"""The last steps of every exported model: files that all may read, and their sums."""

from __future__ import annotations

from pathlib import Path

from inference.files import checksums

SCORES = "evaluation.json"


def seal(folder: Path) -> None:
    """Makes the folder's files readable and writes their sums."""
    files = [file for file in folder.iterdir() if file.is_file() and file.name != checksums.SUMS]
    for file in files:
        file.chmod(0o644)  # safetensors writes for its owner only
    checksums.write(folder, [file.name for file in files])
