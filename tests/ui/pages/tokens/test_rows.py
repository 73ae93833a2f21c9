"""Sentences and drawings of a tokenizer's steps on the Tokens page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inference import LocalBackend
from inference.settings import Settings
from inference.tasks.tokenizer_steps import BestPrefix, Match, Merge, Steps, TokenSteps, WordSteps
from ui.pages.tokens import rows as token_rows
from ui.pages.tokens.rows import comparison_rows, left_out, summary, table, tokenizer_steps_of, top, word_of_tokens
from ui.pages.tokens.walk import first_pick, rows, word_at
from ui.pages.tokens.walk import summary as walked

TEXT = "Café embeddings 👍"


@pytest.fixture(scope="module")
def backend() -> LocalBackend:
    return LocalBackend(Settings())


@pytest.fixture(scope="module")
def steps(backend: LocalBackend) -> Steps:
    return backend.inspect(TokenSteps(text=TEXT))


def test_every_part_knows_its_characters_and_its_word(steps: Steps) -> None:
    split, cut, full = tokenizer_steps_of(steps).rows[1:]
    assert [rung.text for rung in split.rungs] == ["cafe", "embeddings", "👍"]
    assert [rung.text for rung in cut.rungs] == ["cafe", "em", "##bed", "##ding", "##s", "[UNK]"]
    assert [rung.joined for rung in cut.rungs] == [False, False, True, True, True, False]
    assert {rung.word for rung in cut.rungs[1:5]} == {(0, 1)}
    for rung in (*split.rungs, *cut.rungs):
        assert rung.place is not None
        side, start, end = rung.place
        assert side == 0
        assert TEXT[start:end].lower().replace("é", "e") in (rung.text.removeprefix("##"), "👍")
    assert [rung.mark for rung in full.rungs] == ["special", "", "", "", "", "", "unknown", "special"]
    assert [rung.under for rung in full.rungs][:2] == [("101", "0", "1"), ("7668", "0", "1")]


def test_the_sentence_counts(steps: Steps) -> None:
    assert summary(steps, [TEXT]) == (
        "all-MiniLM-L6-v2 reads 17 characters as 6 tokens, 2.8 characters each; special tokens: 2. Not in its"
        " vocabulary, hence [UNK]: “👍”."
    )
    known = replace(steps, tokens=tuple(token for token in steps.tokens if not token.unknown))
    assert summary(known, [TEXT]).endswith("special tokens: 2.")
    placeless = replace(steps, tokens=tuple(replace(token, span=None) for token in steps.tokens))
    assert summary(placeless, [TEXT]).endswith(" [UNK]: 1.")
    (row,) = comparison_rows([steps], [TEXT])
    assert (row["tokens"], row["special"], row["pieces per word"], row["unknown"]) == (6, 2, 2.0, 1)


def test_the_table_is_what_the_model_gets(steps: Steps) -> None:
    made = table(steps)
    assert [row["number"] for row in made] == [token.id for token in steps.tokens]
    assert [row["characters"] for row in made[1:-1]] == ["Café", "em", "bed", "ding", "s", "👍"]
    assert {row["mask"] for row in made} == {1}


def test_a_long_text_is_drawn_in_part_and_says_so(backend: LocalBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_rows, "WORDS", 2)
    text, pair = "One embeddings three four", "Five six"
    steps = backend.inspect(TokenSteps(text=text, pair=pair))
    assert top([steps], [text, pair]) == ["One embeddings", "Five six"]
    assert left_out([steps])
    drawn = [rung.text for rung in tokenizer_steps_of(steps).rows[3].rungs]
    assert drawn == ["[CLS]", "one", "em", "##bed", "##ding", "##s", "[SEP]", "five", "six", "[SEP]"]
    assert set(word_of_tokens(steps).values()) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert len(table(steps)) == len(steps.tokens) > len(drawn)
    assert left_out([backend.inspect(TokenSteps(text="One two"))]) is None


def test_without_steps_the_outcome_is_drawn(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_rows, "TOKENS", 3)
    bare = replace(steps, sides=(), algorithm="", why="Slow.")
    way = tokenizer_steps_of(bare)
    assert [row.name for row in way.rows] == ["3. Cut into pieces", "4. Add special tokens"]
    assert [rung.text for rung in way.rows[1].rungs] == ["[CLS]", "cafe", "em"]
    assert left_out([bare])


def test_the_word_of_the_most_pieces_is_looked_at_first(steps: Steps) -> None:
    assert first_pick(steps) == (0, 1)
    word = word_at(steps, 0, (6, 8))
    assert word is not None
    assert word.text == "embeddings"
    assert word_at(steps, 1, (0, 1)) is None


def test_a_walk_in_words_and_as_a_table() -> None:
    match = WordSteps(
        "WordPiece", (Match("ab", tuple("x" * n for n in range(20)), "a"), Match("##b", (), "##b")), ("a",), (1,)
    )
    assert "22 look-ups" in walked("ab", replace(match, pieces=("a", "##b")))
    assert rows(match)[0]["not in the vocabulary"].endswith(" …")
    merge = WordSteps("BPE", (Merge(("a", "b", "c"), 1, 6, ("a", "bc")),), ("a", "bc"), (1, 2))
    assert walked("abc", merge) == "“abc” becomes a · bc; merges: 1."
    assert rows(merge) == [{"step": 1, "symbols": "a · b · c", "joined": "b + c", "learnt as merge": 7}]
    best = WordSteps("Unigram", (BestPrefix(1, "a", -1.25, -1.25), BestPrefix(2, "b", -2.0, -3.25)), ("a", "b"), (1, 2))
    assert walked("ab", best).endswith("log probability −3.25.")
    assert rows(best)[1]["of the whole way"] == -3.25
    assert (
        walked("the", WordSteps("WordPiece", (Match("the", (), "the"),), ("the",), (1,)))
        == "“the” is in the vocabulary whole."
    )
