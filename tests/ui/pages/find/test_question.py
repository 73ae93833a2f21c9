"""The words of the question of the view Find."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from attention.tokens import TokenRow
from attention.view import View
from inference import LocalBackend, TraceRequest
from tests.support.traces import record, sentence_trace
from ui.input.probes import guess_nouns, is_likely_noun
from ui.pages.break_head.question import BreakHeadOptions, find_words
from ui.pages.find.question import describe_preference, describe_strongest, words_of
from ui.run.head_answers import HeadAnswers, Words
from ui.state.view_state import ViewState

MODEL = "headlight-bert"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Maria thanked the doctor because she had saved her dog.", ("she", "maria", "doctor")),
        ("The dog chased the cat because it was scared.", ("it", "dog", "cat")),
    ],
)
def test_the_candidates_are_those_of_break_the_head(text: str, words: tuple[str, ...]) -> None:
    view = View(LocalBackend().trace(TraceRequest(model=MODEL, text=text)), words=True)
    found, _notes = words_of(ViewState(model=MODEL, text=text), None, view, None)
    question = find_words(view, BreakHeadOptions())
    assert found.guessed == (found.first, found.second)
    chosen, _notes = words_of(ViewState(model=MODEL, text=text), view.keys[found.second].pieces[0], view, None)
    assert chosen.guessed == (chosen.first,)
    assert question is not None
    assert {found.first, found.second} == {question.words.right, question.words.other}
    named = [view.keys[cell].text for cell in (found.source, found.first, found.second)]
    assert [named[0], *sorted(named[1:])] == [words[0], *sorted(words[1:])]


def view_of(text: str) -> View:
    """Return a view of a text, with a token for each of its parts between spaces, and random weights."""
    words = text.split()
    starts = [len(" ".join(words[:at])) + (at > 0) for at in range(len(words))]
    spans = tuple((start, start + len(word)) for start, word in zip(starts, words, strict=True))
    pieces = tuple(word.lower() for word in words)
    row = TokenRow(pieces, tuple(range(len(words))), tuple(range(len(words))), (0,) * len(words), spans)
    layers = tuple(record(len(words), len(words), seed=10 * layer) for layer in range(2))
    trace_id = sha256(text.encode()).hexdigest()  # The app caches surveys by it.
    return View(sentence_trace(id=trace_id, text=text, source=row, parts={"encoder": layers}), words=True)


@pytest.mark.parametrize(
    ("text", "pronoun", "likely", "unlikely"),
    [
        ("Yesterday Maria lost the keys so she left", "she", ["keys", "maria", "yesterday"], "lost"),
        ("Maria gave Anna her book", "her", ["maria", "anna"], "gave"),
        ("Later he told Anna that she won", "she", ["anna", "later"], "told"),
        ("Soon , Anna said she won", "she", ["anna", "soon"], "said"),
        ("Rain fell . Today Anna said she won", "she", ["rain", "anna", "today"], "fell"),
    ],
)
def test_a_word_before_the_subject_is_an_unlikely_name(
    text: str, pronoun: str, likely: list[str], unlikely: str
) -> None:
    view = view_of(text)
    cells = [cell.text for cell in view.keys]
    found = [cells[at] for at in guess_nouns(view, cells.index(pronoun))]
    assert found[: len(likely)] == likely
    assert all(is_likely_noun(view, cells.index(word)) for word in likely)
    assert not is_likely_noun(view, cells.index(unlikely))


@pytest.mark.parametrize(
    ("text", "source", "likely", "rest"),
    [
        (
            "The old teacher praised the student because she wrote a fine essay .",
            "she",
            ["teacher", "student"],
            ["old", "praised"],
        ),
        ("The small old wooden house burned because it was dry", "it", ["house"], ["small", "old", "wooden", "burned"]),
        ("She saw the old . It was new", "it", ["old"], ["saw"]),  # without a word after it, the adjective is a noun
        ("Alte sah das small Haus und sie ging", "sie", ["alte", "haus"], ["small"]),  # no English determiner
        # After the only noun come the adjective, the verb and then function words, even after a determiner.
        ("When she saw her when the dog ate it was sad", "it", ["dog", "sad", "saw", "ate"], ["when", "she"]),
    ],
)
def test_a_noun_follows_the_adjectives_after_a_determiner(
    text: str, source: str, likely: list[str], rest: list[str]
) -> None:
    view = view_of(text)
    cells = [cell.text for cell in view.keys]
    found = [cells[at] for at in guess_nouns(view, cells.index(source))]
    assert found[: len(likely)] == likely
    for word in rest:
        assert not is_likely_noun(view, cells.index(word))


def answers(first: list[float], second: list[float], **words: Any) -> HeadAnswers:
    """Return answers for "her" with weights above baseline for "maria" and "anna", in two layers of three heads."""
    strengths = np.array([first, second], np.float32).reshape(2, 2, 3)
    found, usual = np.abs(strengths), np.zeros_like(strengths)
    return HeadAnswers(
        view_of("Maria gave Anna her book"), Words(3, 0, 2, **words), found, usual, None, strengths, False
    )


def test_the_largest_difference_is_in_a_head_above_baseline_and_says_so() -> None:
    asked = answers([-0.0004, 0.1, 0, 0, 0, 0], [-0.17, 0.02, 0, 0, 0, 0])
    text = describe_preference(asked)
    assert "In 2 of 6 heads" in text
    assert "0-1: 10 against 2 percentage points." in text
    plain = describe_preference(answers([0, 0.1, 0, 0, 0, 0], [0, 0.02, 0, 0, 0, 0]))
    assert "“maria” − “anna”, is in head 0-1: 10 against 2 percentage points." in plain
    start = plain.index("“maria” − “anna”, is")
    assert plain[:start].split(".")[-1] not in text, "head 0-0 has a larger difference, below its baseline"


def test_both_directions_are_counted_and_the_larger_difference_is_named() -> None:
    asked = answers([0.18, 0.06, 0.1, 0, 0, 0], [0.02, 0.39, 0.05, 0.005, 0, 0.1], guessed=(0, 2))
    text = describe_preference(asked)
    assert text.startswith("In 2 of 6 heads")
    assert "in 2, to “anna”" in text
    assert "“anna” − “maria”, is in head 0-1: 39 against 6 percentage points." in text
    assert text.endswith("“maria”, “anna”.")
    assert "head 0-1: “maria” 8, “anna” 5 percentage points" in describe_strongest(
        asked, answers([0, 0.08, 0, 0, 0, 0], [0, 0.05, 0, 0, 0, 0.2])
    )


def test_no_head_is_named_if_all_are_below_baseline() -> None:
    asked = answers([-0.02] * 6, [-0.1] * 6)
    assert "In 6 of 6 heads" in describe_preference(asked)
    assert "0-0" not in describe_preference(asked)
    assert describe_strongest(asked, asked) == ""


def test_the_first_candidate_is_the_target_of_attention_heads_if_it_is_a_likely_noun() -> None:
    view = view_of("Yesterday Maria lost the keys so she left")
    weights = view.rows(6)
    targets = {
        (layer, head): int(np.delete(weights[layer, head], 6).argmax()) for layer in range(2) for head in range(3)
    }
    for (layer, head), target in targets.items():
        at = target if target < 6 else target + 1
        found, _notes = words_of(ViewState(focus=6, layer=layer, head=head), None, view, None)
        assert found.first == (at if is_likely_noun(view, at) else 4)
        assert found.second == (4 if found.first != 4 else 1)
    chosen, _notes = words_of(ViewState(focus=6, to=2), None, view, None)
    assert (chosen.first, chosen.guessed) == (2, (4,)), "a chosen pair is kept, even with a verb"
    against, _notes = words_of(ViewState(focus=6), 4, view, None)
    assert against.first != against.second == 4
