"""The bundled hand-aligned sentences, and the reader's own files of alignments."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from inference.errors import UserError
from probing.alignments import EMBEDDED, MOST, load, parse
from tests.support.cases import loop_over

STATED = json.loads(EMBEDDED.read_text(encoding="utf-8"))


def test_there_are_enough_and_none_twice() -> None:
    pairs = load().pairs
    assert len(pairs) >= 40
    assert max(Counter(pair.source for pair in pairs).values()) == 1
    assert max(Counter(pair.target for pair in pairs).values()) == 1
    assert (STATED["source_language"], STATED["target_language"]) == ("en", "fr")


@loop_over("at", range(len(STATED["pairs"])))
def test_every_word_is_linked_or_said_to_be_without(at: int) -> None:
    stated, pair = STATED["pairs"][at], load().pairs[at]
    links = pair.sure | pair.possible
    sides = [(pair.source_words, "unlinked_source", 0), (pair.target_words, "unlinked_target", 1)]
    for words, unlinked, side in sides:
        linked, without = {link[side] for link in links}, set(stated.get(unlinked, []))
        assert not linked & without
        assert linked | without == set(range(len(words)))


@loop_over("at", range(len(STATED["pairs"])))
def test_words_make_up_the_sentence_and_hold_no_space(at: int) -> None:
    pair = load().pairs[at]
    for text, words in ((pair.source, pair.source_words), (pair.target, pair.target_words)):
        covered = "".join(text[start:stop] for start, stop in words)
        assert covered == "".join(text.split())
        assert all(stop <= start for (_, stop), (start, _) in pairwise(words))


def test_links_vary_in_order_and_kind() -> None:
    """Coverage of crossing links, words with several links, and possible links."""
    pairs = load().pairs
    crossing = [p for p in pairs if any(a < c and d < b for a, b in p.sure for c, d in p.sure)]
    several = [p for p in pairs if max(Counter(source for source, _ in p.sure).values()) > 1]
    assert len(crossing) >= 10
    assert len(several) >= 5
    assert sum(len(p.possible) for p in pairs) >= 20


def test_lines() -> None:
    found = parse(b"It rains\tIl pleut fort\t0-0 1-1 1?2\r\n\n  \nYes\tOui\t0-0").pairs
    assert [pair.line for pair in found] == [1, 4]
    assert found[0].source_words == ((0, 2), (3, 8))
    assert found[0].target_words == ((0, 2), (3, 8), (9, 13))
    assert (found[0].sure, found[0].possible) == (frozenset({(0, 0), (1, 1)}), frozenset({(1, 2)}))


def test_json_with_and_without_words() -> None:
    pair = {"source": "It's cold.", "target": "Il fait froid.", "links": "0-0"}
    plain = parse(json.dumps({"pairs": [pair]}).encode()).pairs[0]
    assert plain.source_words == ((0, 4), (5, 10))
    split = {**pair, "source_words": "It 's cold .", "links": "3-2"}
    assert parse(json.dumps([split]).encode()).pairs[0].source_words == ((0, 2), (2, 4), (5, 9), (9, 10))


def test_words_stand_where_the_model_reads_them() -> None:
    """Each line end is a single character for the model."""
    [pair] = parse(json.dumps([{"source": "a\r\nb", "target": "x", "links": "1-0"}]).encode()).pairs
    assert (pair.source, pair.source_words) == ("a\nb", ((0, 1), (2, 3)))


def test_the_digest_is_that_of_the_content() -> None:
    one, other = b"a\tb\t0-0", b"a\tb\t0?0"
    assert parse(one).digest == parse(one).digest != parse(other).digest


PAIR = {"source": "a b", "target": "x", "links": "0-0"}


@loop_over(
    ("content", "said"),
    [
        (b"", "no pairs"),
        (b"a\tb\t0-0\n\xff\tb\t0-0", "Line 2 is not UTF-8"),
        (b"a\tb", "Line 1 has 2 fields; expected source, target and links"),
        (b"a\tb\t", "Line 1 has no text “links”"),
        (b"a\t \t0-0", "Line 1 has no text “target”"),
        (b"a\tb\t0-0\na\tb\t0-1", "Line 2: Got the link 0-1; source words are 0 to 0, target words 0 to 0."),
        (b"a\tb\t0--0", "link “0--0”; expected 0-1"),
        (b"a\tb\tp1-0", "link “p1-0”"),
        (b"{", "Line 1 is not valid JSON"),
        (f"{json.dumps(PAIR)}\n{json.dumps(PAIR)}\n{{\n".encode(), "Line 3"),
        (f'{json.dumps(PAIR)}\n\n{{"source": a}}\n'.encode(), "Line 3"),
        (b"[" * 100_000, "Line 1 is not valid JSON"),
        (b'{"pairs": ' + b"1" * 5000 + b"}", "Line 1 is not valid JSON"),
        (b'{"pairs": 3}', 'no list "pairs"'),
        (b"[3]", "Pair 1 lacks"),
        (json.dumps([{**PAIR, "source": 3}]).encode(), "Pair 1 has no text “source”"),
        (json.dumps([{**PAIR, "source_words": ["a", "b"]}]).encode(), "are not a text"),
        (json.dumps([{**PAIR, "source_words": "a c"}]).encode(), "the word “c” is not next in “b”"),
        (json.dumps([{**PAIR, "source_words": "a"}]).encode(), "no word covers “b”"),
        (json.dumps([{**PAIR, "target": "x\ud800"}]).encode(), 'The "target" of pair 1 has half a character'),
        (json.dumps([{**PAIR, "links": "\ud800"}]).encode(), 'The "links" of pair 1 has half a character'),
        (json.dumps([{**PAIR, "source_words": "\ud800"}]).encode(), 'The "source_words" of pair 1 has half'),
        (b"a\tb\t0-0\n" * (MOST + 1), "the limit is 2,000"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(content: Any, said: str) -> None:
    with pytest.raises(UserError) as refusal:
        parse(content)
    assert said in refusal.value.message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"tsv .*read"):
        load(tmp_path / "there.tsv")


@pytest.mark.parametrize(
    "content",
    [
        b"Source\tTarget\tLinks\nIt rains\tIl pleut\t0-0\n",
        b'{"source": "It rains", "target": "Il pleut", "links": "0-0"}\n' * 2,
    ],
)
def test_a_header_and_json_lines_are_read(content: bytes) -> None:
    assert {(pair.source, pair.sure) for pair in parse(content).pairs} == {("It rains", frozenset({(0, 0)}))}
