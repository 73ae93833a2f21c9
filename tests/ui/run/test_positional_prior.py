"""Positional priors of models, as pages request them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from inference import EMBEDDED, TraceRequest, UserError
from probing import reference_priors
from probing.reference_priors import stored_priors
from tests.support.traces import sentence_trace
from ui.run.services import get_backend, prior_map, prior_of

pytestmark = pytest.mark.slow


def test_of_a_model_that_comes_along_they_are_the_stored_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = get_backend().trace(TraceRequest(EMBEDDED, "A cat sat."))
    monkeypatch.setattr(reference_priors, "measure_priors", lambda *_: pytest.fail("they are stored"))
    assert prior_of(EMBEDDED, "", trace, None) is stored_priors()[EMBEDDED]["encoder"]
    assert prior_map(trace, "encoder") is stored_priors()[EMBEDDED]["encoder"]


def test_of_another_they_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = replace(sentence_trace(), id="another")
    asked = []

    def measured(*what: object) -> object:
        asked.append(what[1:])
        return stored_priors()[EMBEDDED]

    monkeypatch.setattr(reference_priors, "measure_priors", measured)
    for _ in range(2):
        assert prior_of("someone/tiny", "abc", trace, "encoder") is stored_priors()[EMBEDDED]["encoder"]
    assert asked == [("someone/tiny", "abc", "encoder")]


def test_what_cannot_be_known_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = sentence_trace()

    def refuses(*_: object) -> object:
        raise UserError("It reads no text.")

    monkeypatch.setattr(reference_priors, "measure_priors", refuses)
    assert prior_of(EMBEDDED, "", trace, None) is None, "another model's trace"
    assert prior_of("nobody/tiny", "", trace, None) is None
    assert prior_of("tiny", "", replace(trace, id="file-0"), None) is None
    assert prior_map(replace(trace, id="never"), None) is None


def test_an_unrelated_place_stays_unknown() -> None:
    means = stored_priors()[EMBEDDED]["encoder"].means
    assert np.isfinite(means).all(), "an encoder's words have every place"
    assert np.isnan(stored_priors()["headlight-en-fr"]["decoder"].means).any(), "a decoder looks at nothing ahead"
