"""Are a folder's files byte for byte those that were put there? By the SHA256SUMS beside them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from inference.files.checkpoint import PROCESSOR, TOKENIZERS, WEIGHTS

SUMS = "SHA256SUMS"  # as sha256sum writes and checks it


def sha256(file: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def of_weights(files: Sequence[Path]) -> str:
    """SHA-256 of the one file that holds the weights, or of their sums one below the other where there are several.

    Files that did not change are hashed once.
    """
    sums = [_cached_sha256(file, *_file_stamp(file)) for file in files]
    return sums[0] if len(sums) == 1 else hashlib.sha256("\n".join(sums).encode()).hexdigest()


@cache
def _cached_sha256(file: Path, _size: int, _changed_at: int) -> str:
    return sha256(file)


def _file_stamp(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def write(folder: Path, names: Iterable[str]) -> None:
    """Puts the sums of some files into their folder."""
    lines = [f"{sha256(folder / name)}  {name}\n" for name in sorted(names)]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def is_intact(folder: Path) -> bool:
    """Whether the folder lists weights, a configuration and what reads texts or pictures, and each listed file is
    as it was."""
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
        sums = {name: expected for expected, name in (line.replace("*", " ").split() for line in lines)}
        enough = {WEIGHTS, "config.json"} <= set(sums) and not set(sums).isdisjoint((*TOKENIZERS, PROCESSOR))
        return enough and all(sha256(folder / name) == expected for name, expected in sums.items())
    except (OSError, ValueError):
        return False
