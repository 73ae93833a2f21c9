"""Writing of ONNX files without the package onnx: nodes, constants, inputs and outputs of a graph.

An ONNX file is a Protocol Buffers message. Only the few fields of a plain graph are written; their numbers are those of
onnx.proto3. `inference/files/embedded.py` reads the same format.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

IR_VERSION, OPSET = 9, 20  # opset 20 is the first with Gelu
FLOAT, HALF, SHORT, LONG = np.dtype("<f4"), np.dtype("<f2"), np.dtype("<i2"), np.dtype("<i8")
TYPES = {FLOAT: 1, SHORT: 5, LONG: 7, HALF: 10}
_FLOAT, _INT, _STRING, _INTS = 1, 2, 3, 7  # kinds of attributes
LARGEST = 2**15 - 1
Attribute = float | int | str | Sequence[int]
Shape = Sequence[int | str]  # a string names an axis whose length is free


def shorten(array: npt.NDArray[Any], axis: int) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.float32]]:
    """Return an array as 16-bit integers, and the scales by which they are multiplied to recover the numbers.

    Numbers along ``axis`` share a scale, so the array of scales has length 1 there. The error is at most 1/65,534 of
    the largest number that shares a scale. On average it is a third of float16's error.

    >>> coded, scale = shorten(np.array([[1.0, -0.5]], np.float32), 1)
    >>> coded.tolist(), (coded * scale).round(4).tolist()
    ([[32767, -16384]], [[1.0, -0.5]])
    """
    wide = array.astype(np.float64)
    scale = np.abs(wide).max(axis=axis, keepdims=True) / LARGEST
    scale[scale == 0] = 1
    return np.rint(wide / scale).astype(SHORT), scale.astype(FLOAT)


def varint(number: int) -> bytes:
    """Encode an integer as a Protocol Buffers varint: seven bits per byte, lowest first.

    Negative integers take ten bytes.

    >>> varint(300).hex()
    'ac02'
    """
    number &= 2**64 - 1
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def _number(place: int, value: int) -> bytes:
    return varint(place << 3) + varint(value)


def _block(place: int, content: bytes | str) -> bytes:
    raw = content.encode() if isinstance(content, str) else content
    return varint(place << 3 | 2) + varint(len(raw)) + raw


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        kind, coded = _FLOAT, varint(2 << 3 | 5) + struct.pack("<f", value)
    elif isinstance(value, int):
        kind, coded = _INT, _number(3, value)
    elif isinstance(value, str):
        kind, coded = _STRING, _block(4, value)
    else:
        kind, coded = _INTS, b"".join(_number(8, one) for one in value)
    return _block(1, name) + coded + _number(20, kind)


def _tensor(name: str, array: npt.NDArray[Any]) -> bytes:
    dimensions = b"".join(_number(1, size) for size in array.shape)
    return (
        dimensions + _number(2, TYPES[array.dtype]) + _block(8, name) + _block(9, np.ascontiguousarray(array).tobytes())
    )


def _value(name: str, dtype: npt.DTypeLike, shape: Shape) -> bytes:
    sizes = (_block(2, one) if isinstance(one, str) else _number(1, one) for one in shape)
    dimensions = b"".join(_block(1, size) for size in sizes)
    tensor = _number(1, TYPES[np.dtype(dtype)]) + _block(2, dimensions)
    return _block(1, name) + _block(2, _block(1, tensor))


@dataclass
class GraphWriter:
    """A graph under construction; ``file`` returns its ONNX file.

    >>> writer = GraphWriter()
    >>> half = writer.constant("half", np.array([0.5, 2], FLOAT))
    >>> writer.input("x", FLOAT, ("tokens", 2))
    >>> writer.output(writer.node("Mul", ["x", half], "y"), FLOAT, ("tokens", 2))
    >>> len(writer.file())
    130
    """

    nodes: list[bytes] = field(default_factory=list)
    constants: dict[str, bytes] = field(default_factory=dict)
    inputs: list[bytes] = field(default_factory=list)
    outputs: list[bytes] = field(default_factory=list)

    def input(self, name: str, dtype: npt.DTypeLike, shape: Shape) -> None:
        """Declare an input of the graph."""
        self.inputs.append(_value(name, dtype, shape))

    def output(self, name: str, dtype: npt.DTypeLike, shape: Shape) -> None:
        """Declare an output of the graph."""
        self.outputs.append(_value(name, dtype, shape))

    def constant(self, name: str, array: npt.NDArray[Any]) -> str:
        """Store an array whose type is in ``TYPES``; return its name in the graph."""
        self.constants[name] = _tensor(name, array)
        return name

    def matrix(self, name: str, array: npt.NDArray[Any], axis: int) -> str:
        """Store a matrix in 16 bits per number, and return the name of the float32 matrix in the graph.

        Each row has a scale if ``axis`` is 1, and each column if it is 0. The runtime computes the float32 matrix when
        it opens the file. A float16 matrix is stored unchanged.
        """
        if array.dtype == HALF:
            return self.node("Cast", [self.constant(f"{name}.half", array)], name, to=TYPES[FLOAT])
        coded, scale = shorten(array, axis)
        wide = self.node("Cast", [self.constant(f"{name}.short", coded)], f"{name}.wide", to=TYPES[FLOAT])
        return self.node("Mul", [wide, self.constant(f"{name}.scale", scale)], name)

    def node(self, kind: str, inputs: Iterable[str], output: str, **attributes: Attribute) -> str:
        """Add an operation of a kind, such as "MatMul", and return the name of its output."""
        parts = [*(_block(1, one) for one in inputs), _block(2, output), _block(3, output), _block(4, kind)]
        parts += [_block(5, _attribute(name, value)) for name, value in attributes.items()]
        self.nodes.append(b"".join(parts))
        return output

    def file(self) -> bytes:
        """Return the ONNX file of the graph."""
        parts = [*(_block(1, node) for node in self.nodes), _block(2, "headlight")]
        parts += [_block(5, tensor) for tensor in self.constants.values()]
        parts += [_block(11, value) for value in self.inputs] + [_block(12, value) for value in self.outputs]
        opset = _block(1, "") + _number(2, OPSET)
        return _number(1, IR_VERSION) + _block(2, "headlight") + _block(7, b"".join(parts)) + _block(8, opset)
