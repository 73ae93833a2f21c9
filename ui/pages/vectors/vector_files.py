"""Named vectors as CSV, a block at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from attention.mask import FloatArray
from attention.spreadsheet import safe_cell


def csv_rows(blocks: Iterable[tuple[Sequence[str], FloatArray]], channels: int, what: str) -> Iterator[str]:
    """Lines of a table: the name (an apostrophe before one that a spreadsheet would run), then a column a channel.

    Nine digits give every float32 back.

    >>> import numpy as np
    >>> "".join(csv_rows([(["it", "=x"], np.eye(2, dtype=np.float32))], 2, "token")).splitlines()
    ['token,channel 0,channel 1', 'it,1,0', "'=x,0,1"]
    """
    page = io.StringIO()
    writer = csv.writer(page)
    writer.writerow([what, *(f"channel {at}" for at in range(channels))])
    for names, vectors in blocks:
        for name, vector in zip(names, vectors.tolist(), strict=True):
            writer.writerow([safe_cell(name), *(f"{value:.9g}" for value in vector)])
        yield page.getvalue()
        page.seek(0)
        page.truncate()
