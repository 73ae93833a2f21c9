"""The selected attention weight, and the window of tokens around it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.cases import loop_over
from tests.support.traces import record, sentence_trace, translation_trace
from ui.pages.step_by_step.weight import chips, find, labels, strongest_key, window
from ui.state.view_state import ViewState


def test_what_is_chosen_is_meant() -> None:
    spot, _, notes = find(ViewState(layer=1, head=2, focus=3, to=4), sentence_trace())
    assert (spot.layer, spot.head, spot.query, spot.key, notes) == (1, 2, 3, 4, [])
    assert spot.pieces == ("chess", ".")
    assert spot.name == "Head 1-2"
    assert spot.selection == {"layer": 1, "head": 2, "focus": 3, "to": 4}


@pytest.mark.parametrize("changes", [{}, {"words": True}, {"special": False}, {"layer": 0, "head": 1}])
def test_what_is_not_chosen_is_found_in_the_numbers(changes: dict[str, Any]) -> None:
    trace = sentence_trace()
    spot, _, _ = find(ViewState(**changes), trace)
    weights = trace.weights(spot.layer, spot.head)[spot.query]
    words = [at for at in range(6) if not trace.source.special[at] and at != spot.query]
    assert spot.key == max(words, key=lambda at: weights[at])
    assert not trace.source.special[spot.query]


def test_a_special_token_that_is_chosen_stays_chosen_when_hidden() -> None:
    spot, _, _ = find(ViewState(special=False, focus=0, to=5), sentence_trace())
    assert (spot.query, spot.key) == (0, 5)


def test_a_token_that_there_is_not_gets_a_sentence() -> None:
    spot, _, notes = find(ViewState(focus=99, to=99), sentence_trace())
    assert spot.query < 6
    assert spot.key < 6
    assert any("token 99" in note for note in notes)


def test_sides_of_a_translation_are_kept_apart() -> None:
    spot, _, _ = find(ViewState(part="cross", layer=0, head=0, focus=2, to=4), translation_trace())
    assert spot.pieces == ("</s>", ".")
    assert len(spot.queries) == 3
    assert len(spot.keys) == 6


def test_a_token_s_strongest_is_another_word() -> None:
    trace = sentence_trace(parts={"encoder": (record(6, 6),)})
    assert strongest_key(trace, "encoder", 0, 0, 3) != 3
    cross = translation_trace()
    weights = cross.records("cross")[0].weights(0)[1]
    assert strongest_key(cross, "cross", 0, 0, 1) == 1 + int(weights[1:5].argmax()), "between [CLS] and [SEP]"


@loop_over(("length", "must"), [(1, 0), (5, 4), (8, 7), (30, 0), (30, 4), (30, 15), (30, 29)])
def test_a_window_holds_what_it_must(length: int, must: int) -> None:
    shown = window(length, 8, must, 0)
    assert {must, 0} <= set(shown.tolist())
    assert len(shown) <= min(length, 9)
    assert (np.diff(shown) > 0).all()
    assert shown[-1] < length


def test_labels_say_position_and_piece() -> None:
    assert labels(sentence_trace().source, np.array([1, 3])) == ("1 play", "3 chess")


def test_pieces_of_a_word_touch() -> None:
    found = chips(sentence_trace().source, np.array([0, 0.5, 0.25, 0, 0, 0.25], np.float32))
    assert [chip.glued for chip in found] == [False, False, True, False, False, False]
    assert [chip.special for chip in found] == [True, False, False, False, False, True]
    assert (found[1].shade, found[1].title) == (0.5, "0.5000")
