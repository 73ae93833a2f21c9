"""The summary of all heads against measures and thumbnails of single heads."""

import numpy as np
import pytest

from attention.head_search import head_of_link
from attention.measures import MEASURES, attention_received, distance, entropy, summarize_heads
from attention.record import MapRecord
from attention.view import View
from tests.support.traces import hybrid_trace, sentence_trace


def test_a_survey_describes_the_shares_among_what_is_shown() -> None:
    """With 0.8 on a hidden [CLS] and the rest spread evenly over four words, the entropy is 2 bits."""
    maps = np.full((3, 6, 6), 0.05, np.float32)
    maps[:, :, 0] = 0.8
    maps[:, :, 5] = 0.0
    trace = sentence_trace(parts={"encoder": (MapRecord(maps),)})
    found = summarize_heads(View(trace, special=False), 8)
    np.testing.assert_allclose(found.entropy, 2, atol=1e-5)
    np.testing.assert_allclose(found.distance, 1.25, atol=1e-5)


def test_a_survey_equals_its_measures_one_by_one() -> None:
    view = View(sentence_trace())
    found = summarize_heads(view, 4)
    np.testing.assert_array_equal(found.thumbnails, view.thumbnails(4))
    for layer in range(view.layers):
        for head in range(view.heads):
            weights = view.weights(layer, head)
            assert found.entropy[layer, head] == pytest.approx(entropy(weights).mean(), abs=1e-6)
            assert found.distance[layer, head] == pytest.approx(distance(weights).mean(), abs=1e-6)
    every = [
        attention_received(view.weights(layer, head)) for layer in range(view.layers) for head in range(view.heads)
    ]
    np.testing.assert_allclose(found.received, np.mean(every, axis=0), atol=1e-6)
    assert not found.sampled


def test_a_survey_holds_every_measure_once() -> None:
    found = summarize_heads(View(sentence_trace()), 4)
    assert list(found.measures) == [measure.name for measure in MEASURES]
    assert len(set(found.measures)) == len(MEASURES)
    assert all(values.shape == found.thumbnails.shape[:2] for values in found.measures.values())


def test_layers_without_attention_have_no_measures() -> None:
    view = View(hybrid_trace())
    every = summarize_heads(view, 8)
    alone = summarize_heads(
        View(sentence_trace(parts={"encoder": tuple(hybrid_trace().records()[at] for at in (1, 3))})), 8
    )
    for name, values in every.measures.items():
        assert np.isnan(values[[0, 2]]).all()
        np.testing.assert_array_equal(values[[1, 3]], alone.measures[name])
    np.testing.assert_allclose(every.received, alone.received, rtol=1e-6)
    assert (every.own.queries[[0, 2]] == -1).all()
    assert all(head_of_link(view, every, None, focus)[0] in (1, 3) for focus in range(6))
