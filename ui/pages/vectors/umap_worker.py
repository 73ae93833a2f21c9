"""UMAP in a separate process, which can be stopped and keeps the app's memory small.

Run it with ``python -m ui.pages.vectors.umap_worker``. A message is its length in 8 bytes, then a NumPy .npz archive.
The input has "vectors", "dimensions" and "neighbours", the output "points" or "error". The process ends when its input
is closed.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from inference.scheduling import NICE


def write(stream: IO[bytes], **arrays: Any) -> None:
    """Write arrays to a stream as a message."""
    body = io.BytesIO()
    np.savez(body, **arrays)
    stream.write(len(body.getvalue()).to_bytes(8, "little") + body.getvalue())
    stream.flush()


def read(stream: IO[bytes]) -> dict[str, np.ndarray] | None:
    """Block until a message arrives and return it; return None at the end of the stream.

    >>> pipe = io.BytesIO()
    >>> write(pipe, points=np.eye(2))
    >>> _ = pipe.seek(0)
    >>> read(pipe)["points"].tolist(), read(pipe)
    ([[1.0, 0.0], [0.0, 1.0]], None)
    """
    size = stream.read(8)
    if len(size) < 8:
        return None
    body = stream.read(int.from_bytes(size, "little"))
    with np.load(io.BytesIO(body), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def arrange(vectors: np.ndarray, dimensions: int, neighbours: int) -> np.ndarray:
    """Return UMAP coordinates (arXiv:1802.03426) by cosine distance, shape (point, dimension), float32.

    ``vectors`` have the shape (point, channel). The seed is fixed, so that equal input gives equal output.
    """
    import umap

    settings = {"n_components": dimensions, "n_neighbors": neighbours, "metric": "cosine"}
    points: np.ndarray = umap.UMAP(**settings, random_state=0, n_jobs=1).fit_transform(vectors).astype(np.float32)
    return points


def answers(source: IO[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the answer to each message in ``source``."""
    while (asked := read(source)) is not None:
        try:
            points = arrange(asked["vectors"], int(asked["dimensions"]), int(asked["neighbours"]))
            yield {"points": points}
        except (ValueError, TypeError, ArithmeticError, ImportError, MemoryError, np.linalg.LinAlgError) as error:
            yield {"error": np.array(f"{type(error).__name__}: {error}")}


def main() -> None:
    """Answer messages until the input is closed; redirect the standard output of libraries to standard error."""
    if hasattr(os, "nice"):
        os.nice(NICE)  # the app's pages have priority
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for answer in answers(sys.stdin.buffer):
        write(sink, **answer)


if __name__ == "__main__":
    main()
