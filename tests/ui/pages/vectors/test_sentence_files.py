"""Uploaded files of sentences: parsing and error messages."""

from __future__ import annotations

import pytest

from inference import UserError
from probing import sentence_files
from probing.sentence_files import column, lines, parse_table
from ui.input import text_files
from ui.input.text_files import decode, decode_table
from ui.pages.vectors.options import VectorsOptions


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_in_unicode_is_read(coding: str) -> None:
    assert lines(decode("Déjà vu.\r\n\r\n  你好  \rlast".encode(coding))) == ("Déjà vu.", "你好", "last")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "The file is empty"),
        (b" \n\t\n", "The file is empty"),
        (b"\x89PNG\r\n\x1a\n", "The file is PNG, not text"),
        (b"plain\0text", "binary"),
        ("caf\u00e9".encode("latin-1"), "Line 1 is not UTF-8 text"),
    ],
)
def test_what_is_no_text_is_said(data: bytes, said: str) -> None:
    with pytest.raises(UserError, match=said):
        decode(data)


def test_a_large_file_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "MOST_BYTES", 2_000_000)
    with pytest.raises(UserError, match=r"3 MB; .* 2\."):
        decode(b"x" * 3_000_000)


def test_too_many_and_too_long_lines_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_files, "MOST_SENTENCES", 3)
    monkeypatch.setattr(sentence_files, "LONGEST", 20)
    assert lines("a\n\nb\nc\n") == ("a", "b", "c")
    with pytest.raises(UserError, match=r"4 sentences; .* 3"):
        lines("a\nb\nc\nd")
    with pytest.raises(UserError, match=r"Line 3 has 21 characters; .* 20"):
        lines("a\n\n" + "x" * 21)
    with pytest.raises(UserError, match="Line 2 has 21 characters"):
        column(parse_table("id,text\n1," + "x" * 21 + "\n"), 1)


def test_the_column_of_texts_is_found() -> None:
    found = parse_table("id,title,text\n1,One,The first sentence.\n2,Two,The second one.\n")
    assert [found.names[at] for at in found.texts] == ["text", "title"]
    assert column(found, 2) == ("The first sentence.", "The second one.")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_any_usual_delimiter_and_quotes(delimiter: str) -> None:
    found = parse_table(
        f'n{delimiter}what\n1{delimiter}"Yes{delimiter} ""indeed"",\nhe said."\n\n2{delimiter}No way.\n3\n'
    )
    assert found.texts == (1,)
    assert column(found, 1) == (f'Yes{delimiter.strip()} "indeed", he said.', "No way.")
    assert [line for line, _ in found.rows] == [2, 5, 6]


def test_one_column_needs_no_delimiter() -> None:
    assert column(parse_table("text\nOne here.\nTwo there.\n"), 0) == ("One here.", "Two there.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,count\n1,2\n3,4\n", "columns “id”, “count”"),
        ("text\n", "only a header"),
        ("\n\n", "only a header"),
        ("id,text\n1,Hello you.\n2,Hello, you.\n", "Line 3 has more columns"),
        ('[{"text": "One here."}, {"text": "Two there."}]', "The file is one JSON value"),
    ],
)
def test_a_table_without_texts_is_said(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse_table(text)


def test_an_open_quote_is_said() -> None:
    with pytest.raises(UserError, match=r"^Line 2 is"):
        parse_table('id,text\n1,"open ' + "x" * (11 * sentence_files.LONGEST))


def test_nothing_but_white_space_is_said() -> None:
    with pytest.raises(UserError, match="No sentences"):
        lines("\n \n")


def test_lone_quotation_mark_loses_no_rows() -> None:
    found = parse_table('label\ttext\na\tOne here.\nb\t"Two here.\na\tThree here.\nb\tFour here.\n')
    assert column(found, 1) == ("One here.", '"Two here.', "Three here.", "Four here.")
    with pytest.raises(UserError, match=r"^Line 3 is"):
        parse_table('label,text\na,One here.\nb,"Two here.\n')


def test_json_lines_have_columns_of_sentences() -> None:
    found = sentence_files.parse_table('{"id": 1, "text": "A first\\none."}\n{"text": "A second one.", "id": 2}\n')
    assert (found.names, found.texts) == (("id", "text"), (1,))
    assert sentence_files.column(found, 1) == ("A first one.", "A second one.")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Hello, you.;1\nGood, bye.;0\n", ("Hello, you.", "Good, bye.")),
        ("sep=|\nid|text\n1|One here.\n2|Two, there.\n", ("One here.", "Two, there.")),
        ('"text"\t"label"\n"One here."\t"1"\n"Two there."\t"0"\n', ("One here.", "Two there.")),
        ('{"0": "One here."}\n{"0": "Two there."}\n', ("One here.", "Two there.")),
        ("id,text\r1,One here.\r2,Two there.\r", ("One here.", "Two there.")),
    ],
)
def test_no_row_is_lost(text: str, read: tuple[str, ...]) -> None:
    found = parse_table(decode_table(text.encode()))
    assert column(found, found.texts[0]) == read


def test_the_texts_to_begin_with_are_not_translated() -> None:
    assert type(VectorsOptions().lines) is type(VectorsOptions().first) is str
