"""The reader's own pairs as a file: common CSV dialects, and messages for invalid files."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from i18n import translate, use_language
from inference import LocalBackend, UserError
from inference.files import embedded
from inference.settings import Settings
from inference.tasks.predictions import NextSentence
from tests.support.asking import asked, notes
from tests.support.cases import loop_over
from ui.pages.next_sentence.pairs_table import FIRST, MOST, SECOND, STARTERS, complete_pairs, parse, summary


@pytest.mark.parametrize(
    "data",
    [
        b"first text,second text\nA one.,B two.\n",
        b"A;B\r\nA one.;B two.\r\n",
        b"A one.\tB two.\n\n",
        "\ufeffA one.,B two.,0.5\n".encode(),
        '"A one.","B two."\n'.encode("utf-16"),
    ],
)
def test_pairs_in_a_file(data: bytes) -> None:
    assert parse(data) == [("A one.", "B two.")]


def test_commas_and_lines_inside_a_cell() -> None:
    assert parse(b'"One, and\ntwo.",b\n') == [("One, and\ntwo.", "b")]


@loop_over(
    ("data", "said"),
    [
        (b"", "The file is empty"),
        (b"\xff\x00\x81", "not UTF-8 text"),
        (b"only one\n", "Line 1 lacks"),
        (b"a,b\nc,\n", "Line 2 lacks"),
        (b"first,second\n", "no pairs"),
        (b"a,b\n" * 1 + b"c,d\n" * (MOST + 1), f"limit is {MOST}"),
        (b"a," + b"b" * 1_000_001, "a cell is too long"),
    ],
)
def test_odd_files(data: bytes, said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse(data)


def test_rows_of_the_table() -> None:
    rows: list[dict[str, str | None]] = [
        {FIRST: " a ", SECOND: "b"},
        {FIRST: "a", SECOND: ""},
        {FIRST: None, SECOND: None},
        {},
    ]
    assert complete_pairs(rows) == ([("a", "b")], 1)


def test_pairs_that_could_not_be_judged_are_not_counted() -> None:
    rows = [("a", "b", 0.9, 0.1, ""), ("c", "d", 0.2, None, ""), ("e", "f", None, None, "It is too long.")]
    assert summary("BERT", rows) == "In 1 of 2 pairs, BERT gives at least 0.5 that the second text follows."
    assert summary("BERT", rows[2:]) == "BERT cannot judge these pairs; see the remarks."


@pytest.mark.slow
@pytest.mark.skipif(not embedded.own_here(embedded.BERT), reason="the BERT that was trained here is not there")
def test_our_own_bert_tells_the_examples_apart() -> None:
    """The first example of each two follows and the second does not, so the first table is not misleading."""
    backend = LocalBackend(Settings(offline=True))
    questions = [NextSentence(model=embedded.BERT, text=first, pair=second) for first, second in STARTERS]
    assert [backend.predict(question).probability > 0.5 for question in questions] == [True, False] * 3


def test_lone_quotation_mark_loses_no_pairs() -> None:
    assert parse(b'a\tb\n"c\td\ne\tf\n') == [('"c', "d"), ("e", "f")]
    with pytest.raises(UserError, match=r"^Line 2 is"):
        parse(b'g,h\n"c,d\ne,f\n')


@loop_over(
    "data",
    [
        b'{"first": "A, one.", "second": "B two."}\n',
        b'{"label": 1, "sentence1": "A, one.", "sentence2": "B two."}\n',
        b"sep=;\nPremise;Hypothesis;label\nA, one.;B two.;1\n",
        b"id|Sentence_A|Sentence_B\r7|A, one.|B two.\r",
        b'question\tanswer\n"A, one."\t"B two."\n',
        b'first text,second text\n"A, one.",B two.\n\x1a',
    ],
)
def test_pairs_are_in_the_named_columns(data: bytes) -> None:
    assert [tuple(text.strip('"') for text in pair) for pair in parse(data)] == [("A, one.", "B two.")]


def test_pairs_in_parquet_are_read() -> None:
    out = io.BytesIO()
    pq.write_table(pa.table({"label": [1], "premise": ["A one."], "hypothesis": ["B two."]}), out)
    assert parse(out.getvalue()) == [("A one.", "B two.")]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"Well, I see.,She left.\nOh.,He left.\n", "Line 2 has 2 columns; the first has 3"),
        (b'[{"first": "A one.", "second": "B two."}]', "The file is one JSON value. Save it as JSON Lines"),
        (b'{"first": "A one.", "second": "B two."}\n{"first": "C"}\n', "Line 2 lacks"),
    ],
)
def test_pairs_that_would_be_lost_are_named(data: bytes, said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse(data)


def test_pairs_in_a_guessed_or_named_encoding_are_read() -> None:
    data = "a,b\nIl prend un café.,Il est tard.\n".encode("mac_roman")
    with pytest.raises(UserError):
        parse(data)
    assert parse(data, "mac_roman") == [("Il prend un café.", "Il est tard.")]
    assert parse(data.replace(b"\x8e", b"\xe9")) == [("Il prend un café.", "Il est tard.")]


@pytest.mark.slow
def test_an_encoding_can_be_picked() -> None:
    page = asked("next_sentence")
    data = "a,b\nIl prend un café.,Il est tard.\n".encode("mac_roman")
    page.file_uploader(key="pairs_file").set_value(("mac.csv", data, "text/csv")).run()
    assert len(notes(page, "refusal")) == 1
    page.selectbox(key="own_pairs_encoding").set_value("mac_roman").run()
    assert page.session_state["own_pairs"] == [("Il prend un café.", "Il est tard.")]
    assert not notes(page, "refusal")
    page.file_uploader(key="pairs_file").set_value(("new.csv", b"a,b\nA one.,B two.\n", "text/csv")).run()
    assert page.session_state["own_pairs"] == [("A one.", "B two.")]
    assert not page.exception


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (b"only one\n", "第 1 行缺少一段文本"),
        (b"first text,second text\n", "文件中没有文本对"),
        (b"x,y\n" * (MOST + 1), f"文件有 {MOST + 1} 个句对"),
    ],
)
def test_a_file_is_refused_in_chinese(file: bytes, said: str) -> None:
    with pytest.raises(UserError) as refused, use_language("zh"):
        parse(file)
    with use_language("zh"):
        assert said in translate(refused.value.message)
