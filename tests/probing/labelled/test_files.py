"""Uploaded files that are refused before they are parsed."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference.errors import UserError
from probing.delimited import lines
from probing.labelled import files
from probing.labelled.files import File, check_length, check_rows, name_file_in_errors
from tests.support.cases import loop_over


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a\xffb", "Line 1 is not UTF-8 text. Save the file as UTF-8."),
        ("文本\t标签\n".encode("gb18030"), "Line 1 is not UTF-8 text."),
        (b"one\n\xff\xfe", "Line 2 is not UTF-8 text."),
        (b"PK\x03\x04\0\0", "The file is zip, not text"),
    ],
)
def test_what_is_no_text_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(UserError, match=said):
        File("a.csv", content).text()


def test_text_is_as_written_but_for_marks_line_ends_and_controls() -> None:
    assert File("a.csv", "\ufeffa\tb\r\nc\rd\u200b \x85\x07".encode()).text() == ("a\tb\nc\nd\u200b ", 2)


def test_a_file_too_large_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 10)
    (tmp_path / "a.csv").write_bytes(b"a" * 11)
    said = "a.csv has 11 bytes; the limit is 10. Shorten it."
    with pytest.raises(UserError, match=said):
        File.from_path(tmp_path / "a.csv")
    with pytest.raises(UserError, match=said):
        File("a.csv", b"a" * 11).text()
    assert File("a.csv", b"a" * 10).text() == ("a" * 10, 0)


def test_what_cannot_be_opened_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"csv .*such"):
        File.from_path(tmp_path / "none.csv")
    with pytest.raises(UserError, match=r"folder\. Give"):
        File.from_path(tmp_path)
    (tmp_path / "a.csv").write_bytes(b"x")
    assert File.from_path(tmp_path / "a.csv") == File("a.csv", b"x")


@loop_over("text", ["", "\n", "a", "a\n", "a\n\nb", "\n\na\n"])
def test_lines_are_the_text(text: str) -> None:
    assert list(lines(text)) == text.splitlines(keepends=True)


def test_a_file_is_named_once() -> None:
    for message in ("Line 1 has no text.", "a.csv: Line 1 has no text."):
        with pytest.raises(UserError) as refused, name_file_in_errors(File("a.csv", b"")):
            raise UserError(message)
        assert refused.value.message == "a.csv: Line 1 has no text."


def test_limits_are_said_with_their_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST", 3)
    monkeypatch.setattr(files, "MOST_ROWS", 2)
    assert check_length("abc", 9) == "abc"
    check_rows(1, 9)
    with pytest.raises(UserError, match=r"line 9 has 4 characters; .* 3"):
        check_length("abcd", 9)
    with pytest.raises(UserError, match=r"over 2 rows, .* 9"):
        check_rows(2, 9)
