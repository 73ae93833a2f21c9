"""ONNX files: what is written is read again, and 16-bit numbers are close."""

from __future__ import annotations

import numpy as np
import pytest

from inference.browser.onnx_writer import FLOAT, HALF, GraphWriter, shorten, varint
from inference.files.embedded import parse


def test_a_written_graph_is_read_again() -> None:
    writer = GraphWriter()
    numbers = np.arange(6, dtype=FLOAT).reshape(2, 3)
    writer.input("x", FLOAT, ("tokens", 2))
    writer.output(writer.node("MatMul", ["x", writer.constant("w", numbers)], "y"), FLOAT, ("tokens", 3))
    graph = parse(writer.file())
    [node] = graph.nodes
    assert (node.kind, node.inputs, node.name) == ("MatMul", ("x", "w"), "y")
    assert list(graph.tensors) == ["w"]
    np.testing.assert_array_equal(graph.tensors["w"], numbers)


@pytest.mark.parametrize(("number", "coded"), [(0, "00"), (127, "7f"), (128, "8001"), (-1, "ff" * 9 + "01")])
def test_integers_take_seven_bits_per_byte(number: int, coded: str) -> None:
    assert varint(number).hex() == coded


@pytest.mark.parametrize("axis", [0, 1])
def test_16_bits_lose_half_a_step_of_the_scale(axis: int) -> None:
    numbers = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32)
    numbers[:, 0] = 0  # a column without a scale
    coded, scale = shorten(numbers, axis)
    assert scale.shape == ((1, 7) if axis == 0 else (5, 1))
    assert (np.abs(coded * scale.astype(np.float64) - numbers) <= 0.51 * scale).all()


def test_float16_is_stored_as_it_is() -> None:
    numbers = np.array([[0.1, -7]], HALF)
    writer = GraphWriter()
    writer.matrix("w", numbers, 1)
    assert numbers.tobytes() in writer.file()
