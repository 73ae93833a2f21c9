"""Unreadable files on the Vectors page, and their messages."""

from __future__ import annotations

import pytest

from probing.text_files import guess_message
from tests.support.asking import asked, notes, says


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("empty.txt", b"\n\n", "The file is empty"),
        ("photo.txt", b"\x89PNG\r\n\x1a\n\0\0", "The file is PNG, not text"),
        ("numbers.csv", b"a,b\n1,2\n", "None of the columns"),
        ("long.txt", b"x" * 20_001, "Line 1 has 20,001 characters"),
        ("many.txt", b"a\n" * 100_001, "Got 100,001 sentences"),
    ],
)
def test_a_file_that_cannot_be_read_is_said(name: str, data: bytes, said: str) -> None:
    page = asked("vectors", show="sentences", bring="file")
    page.file_uploader(key="vectors_file").set_value((name, data, "text/plain")).run()
    says(page, said)


def test_an_encoding_is_guessed_and_can_be_picked() -> None:
    page = asked("vectors", show="sentences", bring="file")
    data = "id,text\n1,Un café.\n2,Un thé.\n3,Un été à Paris.\n".encode("mac_roman")
    page.file_uploader(key="vectors_file").set_value(("mac.csv", data, "text/csv")).run()
    assert guess_message("mac.csv", "mac_roman") in notes(page)
    assert page.session_state["vectors_cells"][1] == ("Un café.", "Un thé.", "Un été à Paris.")
    page.selectbox(key="vectors_encoding").set_value("cp850").run()
    assert page.session_state["vectors_cells"][1] != ("Un café.", "Un thé.", "Un été à Paris.")
    assert not page.exception
