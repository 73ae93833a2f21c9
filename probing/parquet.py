"""Tables from Parquet files, as JSON Lines: the line of an object is the number of its row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from i18n import gettext_lazy
from inference.errors import UserError

START = b"PAR1\x15"  # and the first byte of a structure, unlike a word in a table
MOST_BYTES = 500_000_000  # of a table when it is unpacked
BATCH = 10_000  # rows that are unpacked at a time


def json_lines(content: bytes) -> str:
    """Return the rows of a Parquet file as JSON Lines; raise Refusal if it is damaged or too large.

    Numbers that stand for names of classes become these names, if the file lists them as Hugging Face's do. Columns of
    bytes, such as pictures, are left out.
    """
    import pyarrow as pa  # 0.3 s, for Parquet files only
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        size = sum(file.metadata.row_group(at).total_byte_size for at in range(file.metadata.num_row_groups))
        if size > MOST_BYTES:
            raise UserError(
                gettext_lazy(
                    "The Parquet file has {size:,.0f} MB when unpacked; at most {most:,.0f} are read. Bring a part"
                    " of it.",
                    size=size / 1e6,
                    most=MOST_BYTES / 1e6,
                )
            )
        columns = [field.name for field in file.schema_arrow if not _holds_bytes(field.type)]
        names = _class_names(file.schema_arrow.metadata or {})
        rows = (row for batch in file.iter_batches(BATCH, columns=columns) for row in batch.to_pylist())
        return "".join(
            json.dumps(
                {key: _decode_labels(value, names.get(key, ())) for key, value in row.items()},
                ensure_ascii=False,
                default=str,
            )
            + "\n"
            for row in rows
        )
    except UserError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise UserError(
            gettext_lazy("The file is a Parquet file that cannot be read: it is damaged or encrypted. Save it as CSV.")
        ) from error


def _holds_bytes(kind: Any) -> bool:
    """Return whether a column has bytes in it, on its own or inside a structure."""
    if any(kind.field(at).name and _holds_bytes(kind.field(at).type) for at in range(kind.num_fields)):
        return True
    return "binary" in str(kind)


def _class_names(metadata: Mapping[bytes, bytes]) -> dict[str, Sequence[str]]:
    """Return the names of the classes of each column for which Hugging Face's metadata lists them."""
    found: dict[str, Sequence[str]] = {}
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        for column, feature in features.items():
            inner = feature.get("feature", feature)
            names = inner.get("names", ())
            if inner.get("_type") == "ClassLabel" and all(isinstance(name, str) for name in names):
                found[column] = names
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError):
        return {}
    return found


def _decode_labels(value: Any, names: Sequence[str]) -> Any:
    """Return the name that a number stands for, or each number of a list; other values as they are."""
    if isinstance(value, list):
        return [_decode_labels(entry, names) for entry in value]
    return names[value] if type(value) is int and 0 <= value < len(names) else value
