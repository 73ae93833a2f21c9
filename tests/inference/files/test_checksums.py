"""Checksums of files, cached while the files are unchanged."""

from __future__ import annotations

import hashlib
from pathlib import Path

from inference.files.packages import of_weights, sha256


def test_weights_of_one_file_and_of_several(tmp_path: Path) -> None:
    one, other = tmp_path / "a", tmp_path / "b"
    one.write_bytes(b"abc")
    other.write_bytes(b"d")
    assert of_weights([one]) == sha256(one) == hashlib.sha256(b"abc").hexdigest()
    assert of_weights([one, other]) == hashlib.sha256(f"{sha256(one)}\n{sha256(other)}".encode()).hexdigest()
    one.write_bytes(b"other")
    assert of_weights([one]) == sha256(one), "a file that changed is hashed again"
