"""What a model's heads do whatever the text says, as pages ask for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from inference import EMBEDDED, Refusal, TraceRequest
from probing.reference import stored
from tests.support.traces import sentence_trace
from ui.run import habits
from ui.run.habits import habits_of, habits_shown
from ui.run.shelf import backend

pytestmark = pytest.mark.slow


def test_of_a_model_that_comes_along_they_are_the_stored_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = backend().trace(TraceRequest(EMBEDDED, "A cat sat."))
    monkeypatch.setattr(habits, "measured", lambda *_: pytest.fail("they are stored"))
    assert habits_of(EMBEDDED, "", trace, None) is stored()[EMBEDDED]["encoder"]
    assert habits_shown(trace, "encoder") is stored()[EMBEDDED]["encoder"]


def test_of_another_they_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = replace(sentence_trace(), id="another")
    asked = []

    def measured(*what: object) -> object:
        asked.append(what[1:])
        return stored()[EMBEDDED]

    monkeypatch.setattr(habits, "measured", measured)
    for _ in range(2):
        assert habits_of("someone/tiny", "abc", trace, "encoder") is stored()[EMBEDDED]["encoder"]
    assert asked == [("someone/tiny", "abc", "encoder")]


def test_what_cannot_be_known_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = sentence_trace()

    def refuses(*_: object) -> object:
        raise Refusal("It reads no text.")

    monkeypatch.setattr(habits, "measured", refuses)
    assert habits_of(EMBEDDED, "", trace, None) is None, "another model's trace"
    assert habits_of("nobody/tiny", "", trace, None) is None
    assert habits_of("tiny", "", replace(trace, id="file-0"), None) is None
    assert habits_shown(replace(trace, id="never"), None) is None


def test_an_unrelated_place_stays_unknown() -> None:
    means = stored()[EMBEDDED]["encoder"].means
    assert np.isfinite(means).all(), "an encoder's words have every place"
    assert np.isnan(stored()["headlight-en-fr"]["decoder"].means).any(), "a decoder looks at nothing ahead"
