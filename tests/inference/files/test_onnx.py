"""ONNX files: hand-written files are read correctly, broken files raise an error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inference.files import embedded
from inference.files.embedded import OnnxNode, parse, read
from tests.support.cases import loop_over
from tests.support.onnxfiles import backbone, field, file, node, tensor, varint

TWO_BY_THREE = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    nodes = [node("MatMul", "/layer/MatMul", ("seen", "a")), node("Constant", "", ())]
    content = file([tensor("a", TWO_BY_THREE), tensor("scalar", np.array(7, np.float32))], nodes)
    (tmp_path / "made.onnx").write_bytes(content)
    graph = read(tmp_path / "made.onnx")
    assert graph.nodes == (OnnxNode("MatMul", "/layer/MatMul", ("seen", "a")), OnnxNode("Constant", "", ()))
    assert np.array_equal(graph.tensors["a"], TWO_BY_THREE)
    assert graph.tensors["scalar"].shape == ()
    assert not graph.tensors["a"].flags.writeable


def test_both_ways_of_writing_shapes_and_numbers_are_read() -> None:
    packed = field(1, varint(2) + varint(300)) + field(2, 1) + field(8, "a") + field(4, bytes(4 * 600))
    assert parse(file([packed])).tensors["a"].shape == (2, 300)


def test_numbers_of_other_kinds_are_left_out() -> None:
    shapes = tensor("shape", np.array([1, 2]), kind=7)
    assert set(parse(file([shapes, tensor("a", TWO_BY_THREE)])).tensors) == {"a"}


def shaped(*shape: int) -> bytes:
    """Return a tensor message of six numbers that declares another shape."""
    return b"".join(field(1, size) for size in shape) + field(2, 1) + field(8, "a") + field(9, TWO_BY_THREE.tobytes())


@loop_over(
    "content",
    [
        b"",
        b"GGUF and so on",
        b"\xff" * 100,
        file([tensor("a", TWO_BY_THREE)])[:-9],
        file([]),
        file([tensor("a", TWO_BY_THREE)] * 2),
        file([shaped(2, 4)]),
        file([shaped(2**63, 2**63)]),
        file([shaped(0, 2**63, 2**40)]),
        file([shaped(6, *[1] * 9)]),
        file([shaped(2, 3) + field(14, 1)]),
        file([field(2, 1) + field(8, b"\xff\xfe")]),
        field(7, 5),
        field(7, varint(5 << 3 | 2) + varint(2**60)),
        field(7, varint(5 << 3 | 3)),
    ],
    ids=["empty", "another kind", "a number without end", "cut short", "no tensors", "one name twice", "another shape",
         "endless", "endless and empty", "too many axes", "elsewhere", "no text", "no message", "longer than the file",
         "a kind of field that is none"],
)  # fmt: skip
def test_what_is_no_whole_file_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="ONNX file"):
        parse(content)


def test_the_number_of_things_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    many = file([tensor("a", TWO_BY_THREE)], [node("Add", "", ())] * 3)
    monkeypatch.setattr(embedded, "MOST_NODES", 3)
    parse(many)
    monkeypatch.setattr(embedded, "MOST_NODES", 2)
    with pytest.raises(ValueError, match="whole ONNX"):
        parse(many)


def test_broken_at_any_place_it_is_read_or_refused() -> None:
    whole = file([tensor("a", TWO_BY_THREE)], [node("MatMul", "/layer/MatMul", ("seen", "a"))])
    random = np.random.default_rng(1)
    refused = 0
    for _ in range(2_000):
        content = bytearray(whole)
        for at in random.integers(0, len(content), random.integers(1, 4)):
            content[at] = random.integers(0, 256)
        try:
            parse(bytes(content[: random.integers(1, len(content) + 1)]))
        except ValueError:
            refused += 1
    assert 1_000 < refused < 2_000


def test_a_backbone_is_read(tmp_path: Path) -> None:
    made = backbone(tmp_path / "made.onnx")
    graph = read(made.file)
    assert len(graph.tensors) == len(made.tensors) + 2, "positions in two parts, and one tensor of another part"
