"""Files of text pairs: parsing and error messages."""

from __future__ import annotations

import pytest

from inference.errors import UserError
from probing import text_pairs
from probing.text_pairs import TextPair, parse
from tests.support.cases import loop_over

READ = (TextPair("He ran, fast.", "He sat."), TextPair("He ran, fast.", "He ran, quickly.", True))


@pytest.mark.parametrize(
    "content",
    [
        b'a,b,kind\n"He ran, fast.",He sat.,change\n"He ran, fast.","He ran, quickly.",control\n',
        b"\xef\xbb\xbfkind\tA\tB\r\n\tHe ran, fast.\tHe sat.\r\n\r\nControl\tHe ran, fast.\tHe ran, quickly.\r\n",
        b"a;b;kind;note\nHe ran, fast.; He sat. ;;x\nHe ran, fast.;He ran, quickly.;control;y",
    ],
    ids=["csv", "tsv with a mark", "semicolons"],
)
def test_files_of_any_separator_hold_the_same(content: bytes) -> None:
    assert parse(content) == READ


def test_without_kinds_every_pair_is_a_change_and_text_stays_as_it_is() -> None:
    assert parse(b"a,b\n<b>x</b>,=1+1\n") == (TextPair("<b>x</b>", "=1+1"),)


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [("He ran.", "He ran.", 0), ("He ran.", "He sat.", 1), ("He ran.", "Then he ran.", 1), ("a b c", "c b a", 2)],
)
def test_words_that_differ_are_counted_alike_from_both_sides(a: str, b: str, words: int) -> None:
    assert TextPair(a, b).words == TextPair(b, a).words == words


@loop_over(
    ("content", "said"),
    [
        (b"", "The file is empty. Its first row must name the columns: a, b."),
        (b"a,c\n1,2\n", 'Line 1 lacks the column "b"; expected a, b.'),
        (b"a,b\n", "The file has no pairs."),
        (b"a,b\nx,\n", "Line 2 has no text in column b."),
        (b"a,b\nx,y,z\n", "Line 2 has 3 columns; line 1 has 2."),
        (b"a,b,kind\nx,y,same\n", "Line 2 has the kind “same”; expected change, control or nothing."),
        (b"a,b\nx,y\n\xff,y\n", "Line 3 is not UTF-8 text."),
        (b"a,b\nx,y\0\n", "The file is binary"),
        (b'a,b\n"x,y\n', "Line 2 is not CSV"),
        (b"a,b\nx," + b"y" * 2_001, "Column b of line 2 has 2,001 characters; the limit is 2,000."),
        (b"a,b\n" + b"x,y\n" * 501, "The file has over 500 rows, from line 502 on."),
        (b"a,b\nx," + b"y" * text_pairs.MOST_BYTES, "The file has 1,000,006 bytes; the limit is"),
    ],
)
def test_what_is_wrong_is_said(content: bytes, said: str) -> None:
    with pytest.raises(UserError) as refused:
        parse(content)
    assert said in refused.value.message
