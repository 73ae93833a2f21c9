"""Files that the Vectors page cannot read are refused in a sentence."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, says


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("empty.txt", b"\n\n", "The file is empty"),
        ("photo.txt", b"\x89PNG\r\n\x1a\n\0\0", "The file is a picture, not text"),
        ("numbers.csv", b"a,b\n1,2\n", "None of the columns"),
        ("long.txt", b"x" * 20_001, "Line 1 has 20,001 characters"),
        ("many.txt", b"a\n" * 100_001, "There are 100,001 sentences"),
    ],
)
def test_a_file_that_cannot_be_read_is_said(name: str, data: bytes, said: str) -> None:
    page = asked("vectors", show="sentences", bring="file")
    page.file_uploader(key="vectors_file").set_value((name, data, "text/plain")).run()
    says(page, said)
