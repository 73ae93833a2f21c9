"""A taught model as a zip file, made as it is fetched: a block of it is in memory at a time, however large it is."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

BLOCK = 2**20  # bytes


def iterate_zip(model: Path, name: str) -> Iterator[bytes]:
    """The files of a model's folder, in a folder of this name, as the bytes of a zip file; raises OSError.

    Without what its run needs to go on. Nothing is compressed: weights are as good as random bytes.
    """
    sink = _Sink()
    with ExitStack() as opened, zipfile.ZipFile(sink, "w") as made:
        files = sorted(file for file in model.iterdir() if file.is_file() and not file.is_symlink())
        # All are opened before any is sent: what is removed meanwhile comes whole.
        entries = [zipfile.ZipInfo.from_file(file, f"{name}/{file.name}", strict_timestamps=False) for file in files]
        streams = [opened.enter_context(file.open("rb")) for file in files]
        for entry, stream in zip(entries, streams, strict=True):
            with made.open(entry, "w", force_zip64=True) as written:
                while block := stream.read(BLOCK):
                    written.write(block)
                    yield sink.drain()
    yield sink.drain()


class _Sink(io.RawIOBase):
    """Where a zip file is written to; what was written since the last time is taken from it."""

    def __init__(self) -> None:
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        block = bytes(data)  # type: ignore[call-overload]  # whatever has a buffer
        self._held += block
        return len(block)

    def drain(self) -> bytes:
        """What was written since the last time."""
        taken, self._held = bytes(self._held), bytearray()
        return taken
