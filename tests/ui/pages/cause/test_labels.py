"""The outcome on the Cause page: log-odds of two labels, for a text or a word, or of two words at a mask."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inference import LocalBackend
from inference.files.embedded import BERT
from inference.task_heads import CLASSIFY, TAG, WHAT
from inference.tasks.edit_effects import Effect, LabelEffects
from inference.tasks.labels import CHOICE, EACH
from inference.tasks.predictions import MaskedWords
from tests.support.asking import allowed, asked, notes, says
from tests.support.tinylabels import save
from ui.pages.cause import metric

TEXT = "the animal was a cat"
LOGITS = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, 4.0]], np.float32)


@pytest.mark.parametrize("sort", [CHOICE, EACH])
def test_of_two_labels_the_probabilities_are_told(sort: str) -> None:
    pair = metric.LabelPair(LabelEffects(), ("c", "a"), sort, (2, 0))
    found = pair.reduce(Effect(LOGITS, ("a", "b", "c")))
    assert found.names == ("c", "a")
    odds = np.exp(LOGITS) if sort == CHOICE else 1 / (1 + np.exp(-LOGITS))
    shares = odds / odds.sum(axis=1, keepdims=True) if sort == CHOICE else odds
    np.testing.assert_allclose(np.exp(found.values), shares[:, [2, 0]], rtol=1e-5)


@pytest.mark.slow
def test_a_text_s_and_a_word_s_label_are_watched(tmp_path: Path) -> None:
    text, words = save(tmp_path / "text"), save(tmp_path / "words", head=TAG, labels=("O", "B-<i>", "I-<i>"))
    number = save(tmp_path / "number", labels=("grade",))
    with allowed(tmp_path):
        says(asked("cause", model=text, text=TEXT, watch="label", first="sad", second="wild", edits="a0-1"),
             "“sad”")  # fmt: skip
        page = asked("cause", model=words, text=TEXT, watch="tag", word=3, edits="a0-1")
        says(page, "With head 0-1 ablated")
        assert [box.value for box in page.selectbox if box.label == "Word"] == [3]
        says(asked("cause", model=number, text=TEXT, watch="label"), metric.NO_LABELS)


@pytest.mark.slow
def test_only_whole_words_are_compared_by_default() -> None:
    page = asked("cause", watch="blank", text="The chef tasted the soup and the waiter smiled.")
    shown = [box.value for box in page.text_input if box.label in ("First answer", "Second answer")]
    guesses = LocalBackend().predict(MaskedWords(BERT, text="The chef tasted the soup and the waiter [MASK]."))
    pieces = [guess.piece for guess in guesses.blanks[0].guesses]
    assert "…s" in pieces[:3]  # the likeliest pieces continue "waiter"
    assert shown == [piece for piece in pieces if piece.isalpha()][:2]


@pytest.mark.slow
def test_another_model_answers_where_the_chosen_one_cannot(tmp_path: Path) -> None:
    save(tmp_path / "text")
    with allowed(tmp_path):
        page = asked("cause", text=TEXT, watch="label")
        assert WHAT[CLASSIFY] in " ".join(notes(page))
