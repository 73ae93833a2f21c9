"""Scores of a head on labelled texts: batches with padding, masked keys, and texts that cannot be read."""

from __future__ import annotations

import numpy as np
import pytest

from attention.annotations import AnnotatedText, Link
from inference import LocalBackend, UserError
from inference.tasks.labelled_scores import LabelledScoresRequest
from tests.support.cases import loop_over
from tests.support.present import present

BACKEND = LocalBackend()
SHORT = AnnotatedText("The cat slept.", ((4, 7), (8, 13)), (Link("nsubj", 0, 1),))
LONG = AnnotatedText("Yesterday the old dog barked at me.", ((18, 21), (22, 28)), (Link("nsubj", 0, 1),))


@pytest.mark.slow
@loop_over("model", ["all-MiniLM-L6-v2", "headlight-bert", "headlight-en-fr"])
def test_a_padded_batch_has_the_scores_of_single_texts(model: str) -> None:
    both = BACKEND.inspect(LabelledScoresRequest(model, items=(SHORT, LONG), layer=1, head=1))
    assert both.error < 1e-4
    for item, found in zip((SHORT, LONG), both.texts, strict=True):
        alone = BACKEND.inspect(LabelledScoresRequest(model, items=(item,), layer=1, head=1))
        assert alone.query_sources == both.query_sources
        [expected], text = alone.texts, present(found)
        for name in ("queries", "keys", "scores", "excess", "query_terms", "key_terms"):
            np.testing.assert_allclose(getattr(text, name), getattr(present(expected), name), atol=1e-4, err_msg=name)


@pytest.mark.slow
def test_terms_of_each_side_sum_to_the_excess() -> None:
    answer = BACKEND.inspect(LabelledScoresRequest(items=(SHORT, LONG), layer=3, head=1))
    for text in map(present, answer.texts):
        assert text.excess.shape == (1, 2)
        np.testing.assert_allclose(text.query_terms.sum(axis=2), text.excess, atol=1e-4)
        np.testing.assert_allclose(text.key_terms.sum(axis=2), text.excess, atol=1e-4)


@pytest.mark.slow
def test_an_unreadable_text_has_no_scores() -> None:
    unread = AnnotatedText(" ", ((0, 1),), (Link("nsubj", 0, 0),))
    answer = BACKEND.inspect(LabelledScoresRequest(items=(unread, SHORT), layer=3, head=1))
    assert answer.texts[0] is None
    assert answer.texts[1] is not None
    assert answer.reason


def test_a_missing_head_is_refused() -> None:
    with pytest.raises(UserError, match="9-40"):
        BACKEND.inspect(LabelledScoresRequest(items=(SHORT,), layer=9, head=40))
