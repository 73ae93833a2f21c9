"""The binary format of saved traces, messages and maps: safetensors, with JSON in its metadata.

    uint64 header length | JSON header, padded with spaces | tensors, little-endian, without gaps

Saved traces (`attention/storage.py`), messages between processes (`serving/protocol.py`) and maps for the browser
(`viz/components/shared/frames.js`) use it. Nothing in a file is executed.

Measured on real maps (docs/LOG.md), linear 8-bit coding loses up to half of a row's mass at 512 tokens, and square-root
coding 1 %. Pictures of maps are therefore sent as square-root bytes, and numbers for display as float16. The coding
"whole" is for rounded queries and keys (`viz/site_layers.py`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.mask import FloatArray

ALIGNED = 64  # alignment of the first tensor in bytes
LONGEST_HEADER = 64_000_000  # limit in bytes; the tokens of a long text take several megabytes
METADATA, JSON = "__metadata__", "headlight"  # key of the metadata in the header, and of our JSON in the metadata
Block = bytes | memoryview  # a part of a file
Numbers = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]
DTYPES = {
    "BOOL": np.dtype("?"),
    **{f"{kind}{8 * size}": np.dtype(f"<{kind.lower()}{size}") for kind in "UI" for size in (1, 2, 4, 8)},
    **{f"F{8 * size}": np.dtype(f"<f{size}") for size in (2, 4, 8)},
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}


def encode(metadata: Mapping[str, str], tensors: Mapping[str, Numbers]) -> list[Block]:
    """Encode metadata and tensors as a file; return its bytes in blocks, the header first.

    Contiguous tensors are not copied. Tensors are sorted so that each begins at a multiple of its number size. Raise
    KeyError for a dtype that is not in ``DTYPES``.
    """
    header: dict[str, Any] = {METADATA: dict(metadata)}
    blocks, at = list[Block](), 0
    for name, array in sorted(tensors.items(), key=lambda item: -_alignment(item[1].nbytes)):
        header[name] = {
            "dtype": DTYPE_NAMES[array.dtype],
            "shape": array.shape,
            "data_offsets": (at, at := at + array.nbytes),
        }
        blocks.append(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % ALIGNED)
    return [len(text).to_bytes(8, "little") + text, *blocks]


def _alignment(size: int) -> int:
    """Return the largest power of two, at most ALIGNED, that divides a number of bytes."""
    return min(size & -size, ALIGNED) or ALIGNED


def decode(data: Block) -> tuple[dict[str, str], dict[str, Numbers]]:
    """Return the metadata and the tensors of a file; the tensors are read-only views of ``data``.

    Raise ValueError if the file is incomplete, its header is too long, or its tensors leave gaps.

    >>> metadata, tensors = decode(b"".join(encode({"a": "b"}, {"w": np.array([[0.5, 1.0]])})))
    >>> metadata, tensors["w"].tolist()
    ({'a': 'b'}, [[0.5, 1.0]])
    """
    view = memoryview(data).toreadonly()
    length = int.from_bytes(view[:8], "little")
    if len(view) < 8 or length > min(LONGEST_HEADER, len(view) - 8):
        raise ValueError(f"A header of {length} bytes does not fit into {len(view)} bytes.")
    try:
        header = json.loads(bytes(view[8 : 8 + length]))
        metadata = header.pop(METADATA, {})
        tensors, at, body = dict[str, Numbers](), 0, view[8 + length :]
        for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            tensors[name] = _tensor(body, at, **entry)
            at += tensors[name].nbytes
        if at != len(body) or not all(isinstance(value, str) for value in metadata.values()):
            raise ValueError(f"The tensors take {at} bytes of {len(body)}.")
    except (LookupError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise ValueError("The header does not describe tensors.") from error
    return metadata, tensors


def _tensor(body: memoryview, at: int, dtype: str, shape: list[int], data_offsets: list[int]) -> Numbers:
    """Return the tensor that begins at byte ``at``; raise ValueError if its header does not fit it."""
    kind = DTYPES[dtype]
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError("A size is not a natural number.")
    count = math.prod(shape)
    if data_offsets != [at, at + count * kind.itemsize] or data_offsets[1] > len(body):
        raise ValueError(f"A tensor of shape {shape} begins at byte {at} of {len(body)}, not at {data_offsets}.")
    values = np.frombuffer(body, kind, count, at) if count else np.empty(0, kind)
    if kind == np.bool_ and count and values.view(np.uint8).max() > 1:
        raise ValueError("A truth value is neither 0 nor 1.")
    values.setflags(write=False)
    return values.reshape(shape)


def sqrt8(weights: FloatArray) -> Bytes:
    """Encode weights from 0 to 1 as unsigned bytes, round(255 · √w).

    >>> sqrt8(np.array([0.0, 0.25, 1.0], np.float32)).tolist()
    [0, 128, 255]
    """
    coded: Bytes = np.rint(255 * np.sqrt(np.clip(weights, 0, 1))).astype(np.uint8)
    return coded


def from_sqrt8(coded: Bytes) -> FloatArray:
    """Decode the bytes of ``sqrt8`` to weights, with an error of at most 0.004.

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
    """Decode the bytes of ``signed8`` to numbers, with an error of at most 0.008.

    >>> from_signed8(np.array([-127, 0], np.int8)).tolist()
    [-1.0, 0.0]
    """
    shares = coded.astype(np.float32) / np.float32(127)
    values: FloatArray = shares * np.abs(shares)
    return values


def halves(weights: FloatArray) -> npt.NDArray[np.float16]:
    """Convert numbers to float16, much faster than ``astype`` for weights from 0 to 1.

    The rounding is that of ``astype``, which is slow for numbers below 2**-14, where float16 is subnormal. Most weights
    of a long text are so small; they are computed as multiples of 2**-24. For other weights, the bits of float32 are
    shifted to the format of float16.

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


LARGEST_WHOLE = 2**15 - 1


def whole(values: FloatArray) -> npt.NDArray[np.uint16]:
    """Encode whole numbers as 16-bit numbers in an order of bytes that gzip compresses well.

    All low bytes come first, then all high bytes, which are zero for small numbers. The lowest bit is the sign. The
    numbers must be from -LARGEST_WHOLE to LARGEST_WHOLE.

    >>> whole(np.array([1.0, -2.0, 300.0])).view(np.uint8).tolist()
    [2, 3, 88, 0, 0, 2]
    """
    numbers = np.rint(values).astype(np.int32)
    coded = np.where(numbers < 0, -2 * numbers - 1, 2 * numbers).astype("<u2")
    planes = coded.reshape(-1).view(np.uint8)
    return np.concatenate([planes[::2], planes[1::2]]).view("<u2").reshape(coded.shape)


def from_whole(coded: npt.NDArray[np.uint16]) -> FloatArray:
    """Decode an array that ``whole`` encoded to float32 numbers, in the same shape.

    >>> from_whole(whole(np.array([[1.0, -2.0], [300.0, 0.0]]))).tolist()
    [[1.0, -2.0], [300.0, 0.0]]
    """
    low, high = np.ascontiguousarray(coded).reshape(-1).view(np.uint8).reshape(2, -1).astype(np.int32)
    numbers = low + 256 * high
    values: FloatArray = np.where(numbers & 1, -(numbers + 1) // 2, numbers // 2).astype(np.float32)
    return values.reshape(coded.shape)


STORED: dict[str, np.dtype[Any]] = {
    "sqrt8": np.dtype("u1"),
    "signed8": np.dtype("i1"),
    "whole": np.dtype("<u2"),
    "float16": np.dtype("<f2"),
    "float32": np.dtype("<f4"),
}

CODERS: dict[str, Callable[[FloatArray], Numbers]] = {
    "sqrt8": sqrt8,
    "signed8": signed8,
    "whole": whole,
    "float16": halves,
    "float32": np.asarray,
}
DECODERS: dict[str, Callable[[Numbers], FloatArray]] = {
    "sqrt8": from_sqrt8,
    "signed8": from_signed8,
    "whole": from_whole,
    **dict.fromkeys(("float16", "float32"), lambda coded: coded.astype(np.float32)),
}


CODINGS = {dtype: coding for coding, dtype in STORED.items()}


def frame(header: Mapping[str, Any], arrays: Mapping[str, tuple[FloatArray, str]]) -> bytes:
    """Encode a header and attention maps as a binary message for the browser, which frames.js decodes.

    ``arrays`` maps each name to the pair (values, coding). The coding is the number format of the values in the
    message, a name in ``STORED``, such as bytes of square roots.
    """
    tensors = {
        name: CODERS[coding](values).astype(STORED[coding], copy=False) for name, (values, coding) in arrays.items()
    }
    return b"".join(encode({JSON: json.dumps(header, ensure_ascii=False)}, tensors))


def decode_frame(data: bytes) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """Decode a message of ``frame`` to its header and its float32 arrays.

    >>> header, arrays = decode_frame(frame({"a": 1}, {"w": (np.array([[0.5, 1.0]], np.float32), "float16")}))
    >>> header["a"], arrays["w"].tolist()
    (1, [[0.5, 1.0]])
    """
    metadata, tensors = decode(data)
    arrays = {name: DECODERS[CODINGS[coded.dtype]](coded) for name, coded in tensors.items()}
    return json.loads(metadata[JSON]), arrays
