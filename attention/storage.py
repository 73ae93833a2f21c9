"""Reading and writing of traces as safetensors files, which contain no executable code.

The arrays are tensors, and an array shared by layers is stored once; all other data is JSON in the metadata of the
file.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from attention.codec import JSON, decode, encode
from attention.mask import BoolArray, FloatArray, Mask
from attention.pictures import Grid, Picture
from attention.record import AnyRecord, MapRecord, NoAttention, Record, first_attending
from attention.tokens import TokenRow
from attention.trace import PARTS, ModelId, Trace
from i18n import gettext_lazy

FORMAT = "headlight-trace-2"
MOST_MAPS, MOST_TOKENS = 20_000, 300_000  # limits that keep a small file from causing unbounded work
# Limit on the rows plus columns of all maps. Layers may share an array, so a small file can contain many maps. Without
# sharing, 400 MB (the limit on uploads) hold a quarter of this limit for heads of 64 channels.
MOST_LINES = 2**22
MOST_PIXELS = 2**25
ARRAYS = ("query", "key", "value", "bias", "sinks", "lse")


def dump(trace: Trace) -> bytes:
    """Serialise a trace to the bytes of a safetensors file."""
    names: dict[int, str] = {}
    tensors: dict[str, np.ndarray[Any, Any]] = {}

    def keep(array: np.ndarray[Any, Any] | None) -> str | None:
        if array is None:
            return None
        if id(array) not in names:
            names[id(array)] = f"array{len(names)}"
            tensors[names[id(array)]] = array
        return names[id(array)]

    def describe(record: AnyRecord) -> dict[str, Any]:
        if isinstance(record, NoAttention):
            return {"none": record.heads}
        if isinstance(record, MapRecord):
            # Versions without support for signed values know only "maps", so they reject such files.
            return {"signed" if record.signed else "maps": keep(record.maps)}
        mask = record.mask
        rule = {"causal": mask.causal, "left": mask.left, "right": mask.right, "allowed": keep(mask.allowed)}
        arrays = {name: keep(getattr(record, name)) for name in ARRAYS}
        return {**arrays, "scale": record.scale, "softcap": record.softcap, "mask": rule}

    header: dict[str, Any] = {
        "format": FORMAT,
        "id": trace.id,
        "model": vars(trace.model),
        "text": trace.text,
        "pair": trace.pair,
        "target_text": trace.target_text,
        "source": _fields(trace.source),
        "target": None if trace.target is None else _fields(trace.target),
        "parts": {name: [describe(record) for record in records] for name, records in trace.parts.items()},
    }
    if trace.whole is not None:
        header["whole"] = trace.whole
    if trace.picture is not None:
        header["picture"] = keep(trace.picture.pixels)
    # JSON with ASCII escapes keeps the metadata valid for any text, lone surrogates included.
    return b"".join(encode({JSON: json.dumps(header)}, tensors))


def _fields(row: TokenRow) -> dict[str, Any]:
    """Return a token row as a JSON object; the grid is left out if the row has none."""
    fields = {name: value for name, value in vars(row).items() if name != "grid"}
    return fields if row.grid is None else {**fields, "grid": vars(row.grid)}


def parse(data: bytes) -> Trace:
    """Load a trace from the bytes of a file.

    Raise ValueError with a message for users if the file is damaged in any way.
    """
    try:
        metadata, tensors = decode(data)
        header = json.loads(metadata[JSON])
        if header["format"] != FORMAT:
            raise ValueError("unknown format")
        trace = _build(header, tensors)
        _check(trace)
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
        ArithmeticError,
    ) as error:
        raise ValueError(
            gettext_lazy(
                "This file of {size} bytes is not a complete trace; open one saved with “Save the trace”.",
                size=len(data),
            )
        ) from error
    return trace


def _build(header: dict[str, Any], tensors: dict[str, np.ndarray[Any, Any]]) -> Trace:
    def record(fields: dict[str, Any]) -> AnyRecord:
        for name in {"maps", "signed"} & fields.keys():
            return MapRecord(_floats(tensors[fields[name]], 3), name == "signed")
        arrays = {name: None if fields[name] is None else _floats(tensors[fields[name]]) for name in ARRAYS}
        query, key = arrays["query"], arrays["key"]
        if query is None or key is None or arrays["value"] is None:
            raise ValueError("no queries, keys or values")
        rule = fields["mask"]
        allowed = None if rule["allowed"] is None else _bools(tensors[rule["allowed"]])
        mask = Mask(
            query.shape[1], key.shape[1], bool(rule["causal"]), _int(rule["left"]), _int(rule["right"]), allowed
        )
        softcap = None if fields["softcap"] is None else float(fields["softcap"])
        return Record(**arrays, scale=float(fields["scale"]), softcap=softcap, mask=mask)  # type: ignore[arg-type]

    source, target = _row(header["source"]), None if header["target"] is None else _row(header["target"])

    def records(part: str) -> tuple[AnyRecord, ...]:
        queries = source if part == "encoder" or target is None else target
        keys = source if part != "decoder" or target is None else target
        return tuple(
            NoAttention(int(fields["none"]), len(queries), len(keys)) if "none" in fields else record(fields)
            for fields in header["parts"][part]
        )

    parts = {name: records(name) for name in PARTS if name in header["parts"]}
    return Trace(
        id=_text(header["id"]),
        model=ModelId(**{name: _optional_text(value) for name, value in header["model"].items()}),  # type: ignore[arg-type]
        text=_text(header["text"]),
        pair=_optional_text(header["pair"]),
        target_text=_optional_text(header["target_text"]),
        source=source,
        target=target,
        parts=parts,
        picture=_picture(tensors[header["picture"]]) if "picture" in header else None,
        whole=_int(header.get("whole")),
    )


def _picture(pixels: np.ndarray[Any, Any]) -> Picture:
    if pixels.size > 3 * MOST_PIXELS:
        raise ValueError("pixels")
    return Picture(pixels)


def _row(fields: dict[str, Any]) -> TokenRow:
    return TokenRow(
        pieces=tuple(_text(piece) for piece in fields["pieces"]),
        ids=tuple(int(i) for i in fields["ids"]),
        words=tuple(_int(word) for word in fields["words"]),
        segments=tuple(int(segment) for segment in fields["segments"]),
        spans=tuple(None if span is None else (int(span[0]), int(span[1])) for span in fields["spans"]),
        unknown=tuple(_text(piece) for piece in fields.get("unknown", ())),  # files of older versions lack this field
        grid=_grid(fields["grid"]) if "grid" in fields else None,
    )


def _grid(fields: dict[str, Any]) -> Grid:
    left, top, right, bottom = (float(edge) for edge in fields["box"])
    rows, columns, start = (int(fields[name]) for name in ("rows", "columns", "start"))
    if min(rows, columns) < 1 or start < 0 or not -MOST_PIXELS < left < right < MOST_PIXELS:
        raise ValueError("grid")
    if not -MOST_PIXELS < top < bottom < MOST_PIXELS:
        raise ValueError("grid")
    return Grid(rows, columns, start, (left, top, right, bottom))


def _check(trace: Trace) -> None:
    """Raise ValueError if array sizes do not match the tokens or exceed the limits."""
    if not trace.parts or not all(trace.parts.values()):
        raise ValueError("no attention")
    for row in (trace.source, trace.target):
        if row is not None and not (0 < len(row) <= MOST_TOKENS and set(row.segments) <= {0, 1}):
            raise ValueError("tokens")
        if row is not None and row.grid is not None and row.grid.start + len(row.grid) > len(row):
            raise ValueError("patches")
    lines = 0
    for part, records in trace.parts.items():
        queries, keys = trace.token_rows(part)
        if isinstance(first_attending(records), NoAttention):
            raise ValueError("no attention")  # the file is invalid, so this is not a TypeError
        lines += len(records) * records[0].heads * (len(queries) + len(keys))
        if lines > MOST_LINES:
            raise ValueError("maps times tokens")
        if not 0 < len(records) * records[0].heads <= MOST_MAPS:
            raise ValueError("number of maps")
        for record in records:
            if (record.queries, record.keys) != (len(queries), len(keys)) or record.heads != records[0].heads:
                raise ValueError("sizes differ")
            if isinstance(record, Record):
                _check_record(record)


def _check_record(record: Record) -> None:
    heads, queries, width = record.query.shape
    if not np.isfinite(record.scale) or not (record.softcap is None or record.softcap > 0):
        raise ValueError("scale")
    kv_heads, keys, _ = record.key.shape
    shapes = [
        (record.key, (kv_heads, keys, width)),
        (record.value, (kv_heads, keys, record.value.shape[2])),
        (record.bias, (1 if record.bias is None else len(record.bias), queries, keys)),
        (record.sinks, (heads,)),
        (record.lse, (heads, queries)),
        (record.mask.allowed, (queries, keys)),
    ]
    if any(array is not None and array.shape != shape for array, shape in shapes) or heads % kv_heads:
        raise ValueError("shapes differ")
    if record.bias is not None and len(record.bias) not in (1, heads):
        raise ValueError("bias")


def _floats(array: np.ndarray[Any, Any], axes: int | None = None) -> FloatArray:
    if array.dtype != np.float32 or not np.isfinite(array).all() or axes not in (None, array.ndim):
        raise ValueError("not finite 32-bit numbers")
    return array


def _bools(array: np.ndarray[Any, Any]) -> BoolArray:
    if array.dtype != np.bool_:
        raise ValueError("not truth values")
    return array


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    value.encode()  # reject lone surrogates, which JSON allows; the UnicodeEncodeError is a ValueError
    return value


def _optional_text(value: Any) -> str | None:
    return None if value is None else _text(value)


def _int(value: Any) -> int | None:
    return None if value is None else int(value)
