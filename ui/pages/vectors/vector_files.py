"""Named vectors as CSV, written block by block."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from attention.mask import FloatArray
from attention.spreadsheet import safe_cell


def csv_rows(blocks: Iterable[tuple[Sequence[str], FloatArray]], channels: int, what: str) -> Iterator[str]:
    """Yield the CSV text of each block: a column with names, then a column for each channel.

    Names that a spreadsheet would run as formulas are escaped with an apostrophe. Nine digits restore every
    float32 exactly.

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
