"""Binary frames for arrays: a JSON header and raw little-endian blocks.

    uint32 header length | UTF-8 JSON header, padded with spaces | blocks, each padded to 8 bytes

Measured on real maps (docs/LOG.md), linear 8-bit coding loses up to half of a row's mass at 512 tokens and square-root
coding 1 %. Pictures are therefore sent as square-root bytes, and numbers for display as float16.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray

ALIGN = 8
Bytes = npt.NDArray[np.uint8]


def sqrt8(weights: FloatArray) -> Bytes:
    """Encode weights from 0 to 1 as bytes, round(255 · √w).

    >>> sqrt8(np.array([0.0, 0.25, 1.0], np.float32)).tolist()
    [0, 128, 255]
    """
    coded: Bytes = np.rint(255 * np.sqrt(np.clip(weights, 0, 1))).astype(np.uint8)
    return coded


def from_sqrt8(coded: Bytes) -> FloatArray:
    """Decode square-root bytes to weights, with an error of at most 0.004.

    >>> from_sqrt8(np.array([0, 255], np.uint8)).tolist()
    [0.0, 1.0]
    """
    weights: FloatArray = (coded.astype(np.float32) / np.float32(255)) ** 2
    return weights


def signed8(values: FloatArray) -> npt.NDArray[np.int8]:
    """Encode numbers from -1 to 1 as signed bytes, round(127 · sign(v) · √|v|).

    >>> signed8(np.array([-1.0, -0.25, 0.0, 1.0], np.float32)).tolist()
    [-127, -64, 0, 127]
    """
    coded: npt.NDArray[np.int8] = np.rint(127 * np.sign(values) * np.sqrt(np.clip(np.abs(values), 0, 1))).astype(
        np.int8
    )
    return coded


def from_signed8(coded: npt.NDArray[np.int8]) -> FloatArray:
    """Decode signed square-root bytes to numbers, with an error of at most 0.008.

    >>> from_signed8(np.array([-127, 0], np.int8)).tolist()
    [-1.0, 0.0]
    """
    shares = coded.astype(np.float32) / np.float32(127)
    values: FloatArray = shares * np.abs(shares)
    return values


def halves(weights: FloatArray) -> npt.NDArray[np.float16]:
    """Convert numbers to float16 with the rounding of ``astype``, but much faster for weights from 0 to 1.

    Most weights of a long text are below 2**-14, where float16 is subnormal and ``astype`` is slow. Such a number is a
    multiple of 2**-24. Other weights reuse the bits of float32, with a rebased exponent and 13 fewer bits of the
    fraction.

    >>> halves(np.array([0.5, 1e-5, 0], np.float32)).tolist() == np.array([0.5, 1e-5, 0], np.float16).tolist()
    True
    """
    single = np.ascontiguousarray(weights, np.float32)
    if not ((single >= 0) & (single <= 1)).all():
        return single.astype(np.float16)
    bits = single.view(np.uint32)
    half_up = bits + np.uint32(0xFFF) + ((bits >> np.uint32(13)) & np.uint32(1))  # round half to even
    normal = (half_up >> np.uint32(13)) - np.uint32(0x1C000)
    small = np.rint(single * np.float32(2**24)).astype(np.uint16)
    return np.where(single < np.float32(2**-14), small, normal.astype(np.uint16)).view(np.float16)


STORED: dict[str, np.dtype[Any]] = {
    "sqrt8": np.dtype("u1"),
    "signed8": np.dtype("i1"),
    "float16": np.dtype("<f2"),
    "float32": np.dtype("<f4"),
}

CODERS: dict[str, Callable[[FloatArray], npt.NDArray[Any]]] = {
    "sqrt8": sqrt8,
    "signed8": signed8,
    "float16": halves,
    "float32": np.asarray,
}
DECODERS: dict[str, Callable[[npt.NDArray[Any]], FloatArray]] = {"sqrt8": from_sqrt8, "signed8": from_signed8}


def frame(header: Mapping[str, Any], arrays: Mapping[str, tuple[FloatArray, str]]) -> bytes:
    """Encode a frame; ``arrays`` maps each name to (values, coding), with a coding from ``STORED``."""
    entries, blocks, offset = [], [], 0
    for name, (values, coding) in arrays.items():
        block = CODERS[coding](values).astype(STORED[coding], copy=False).tobytes()
        entries.append(
            {"name": name, "dtype": coding, "shape": list(values.shape), "offset": offset, "bytes": len(block)}
        )
        blocks.append(block + b"\0" * (-len(block) % ALIGN))
        offset += len(blocks[-1])
    text = json.dumps({**header, "arrays": entries}, ensure_ascii=False).encode()
    text += b" " * (-(len(text) + 4) % ALIGN)
    return len(text).to_bytes(4, "little") + text + b"".join(blocks)


def decode_frame(data: bytes) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Decode a frame to its header and its float32 arrays.

    >>> header, arrays = decode_frame(frame({"a": 1}, {"w": (np.array([[0.5, 1.0]], np.float32), "float16")}))
    >>> header["a"], arrays["w"].tolist()
    (1, [[0.5, 1.0]])
    """
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    body = data[4 + length :]
    arrays: dict[str, FloatArray] = {}
    for entry in header.pop("arrays"):
        block = body[entry["offset"] : entry["offset"] + entry["bytes"]]
        raw: npt.NDArray[Any] = np.frombuffer(block, STORED[entry["dtype"]]).reshape(entry["shape"])
        decode = DECODERS.get(entry["dtype"])
        arrays[entry["name"]] = raw.astype(np.float32) if decode is None else decode(raw)
    return header, arrays
