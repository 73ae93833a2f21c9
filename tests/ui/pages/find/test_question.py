"""The words of the question of the view Find."""

from __future__ import annotations

import pytest

from attention.view import View
from inference import LocalBackend, TraceRequest
from ui.pages.break_head.question import BreakHeadOptions, find_words
from ui.pages.find.question import words_of
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
    assert found.is_second_guessed
    chosen, _notes = words_of(ViewState(model=MODEL, text=text), view.keys[found.second].pieces[0], view, None)
    assert not chosen.is_second_guessed
    assert question is not None
    assert {found.first, found.second} == {question.words.right, question.words.other}
    named = [view.keys[cell].text for cell in (found.source, found.first, found.second)]
    assert [named[0], *sorted(named[1:])] == [words[0], *sorted(words[1:])]
