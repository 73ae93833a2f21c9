"""Objects that sessions share: queries, which end with the page or after a time limit, and positional priors."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.runtime import Runtime

from inference import EMBEDDED, LocalBackend, TraceRequest, UserError
from inference.cancellation import Cancelled, Visitor, set_visitor_source
from inference.settings import Settings
from inference.tasks.hidden_states import TextSizes
from probing import reference_priors
from probing.reference_priors import stored_priors
from tests.support.asking import asked, says
from tests.support.traces import sentence_trace
from ui import streamlit_internals
from ui.run.services import get_backend, page_visitor, prior_map, prior_of


@pytest.fixture
def open_pages(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the set of sessions with open pages; this thread belongs to the session "ann"."""
    pages = {"ann"}
    runtime = SimpleNamespace(is_active_session=pages.__contains__)
    monkeypatch.setattr(Runtime, "_instance", runtime)
    monkeypatch.setattr(streamlit_internals, "session_id", lambda: "ann")
    return pages


def test_a_page_s_visitor_has_gone_when_it_is_closed(open_pages: set[str]) -> None:
    visitor = page_visitor()
    assert visitor is not None
    assert (visitor.who, visitor.gone()) == ("ann", False)
    open_pages.clear()
    assert visitor.gone()


def test_who_draws_no_page_computes_for_no_visitor() -> None:
    assert page_visitor() is None


@pytest.mark.slow
def test_what_a_page_asks_for_ends_with_it(open_pages: set[str]) -> None:
    request = TraceRequest(EMBEDDED, "nobody waits for this")
    open_pages.clear()
    with pytest.raises(Cancelled):
        get_backend().trace(request)
    assert request.key not in get_backend().kept_traces
    open_pages.add("ann")
    assert get_backend().trace(request).text == "nobody waits for this"
    open_pages.clear()
    assert get_backend().trace(request).text == "nobody waits for this", "what is kept costs nothing"


def test_every_question_of_a_visitor_has_its_time() -> None:
    late = LocalBackend(replace(Settings(), answer_seconds=-1.0))
    set_visitor_source(lambda: Visitor("ann", lambda: False))
    try:
        for question in (
            lambda: late.trace(TraceRequest(EMBEDDED, "a cat")),
            lambda: late.traces([TraceRequest(EMBEDDED, "a cat")]),
            lambda: late.inspect(TextSizes(EMBEDDED, texts=("a cat",))),
        ):
            with pytest.raises(Cancelled, match="−1 seconds"):
                question()
    finally:
        set_visitor_source(page_visitor)


@pytest.mark.slow
def test_the_page_says_what_took_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(get_backend(), "settings", replace(get_backend().settings, answer_seconds=-1.0))
    says(asked("explore", text="a text that takes too long"), "−1 seconds")


@pytest.mark.slow
def test_of_a_model_that_comes_along_they_are_the_stored_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = get_backend().trace(TraceRequest(EMBEDDED, "A cat sat."))
    monkeypatch.setattr(reference_priors, "measure_priors", lambda *_: pytest.fail("they are stored"))
    assert prior_of(EMBEDDED, "", trace, None) is stored_priors()[EMBEDDED]["encoder"]
    assert prior_map(trace, "encoder") is stored_priors()[EMBEDDED]["encoder"]


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_cannot_be_known_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = sentence_trace()

    def refuses(*_: object) -> object:
        raise UserError("It reads no text.")

    monkeypatch.setattr(reference_priors, "measure_priors", refuses)
    assert prior_of(EMBEDDED, "", trace, None) is None, "another model's trace"
    assert prior_of("nobody/tiny", "", trace, None) is None
    assert prior_of("tiny", "", replace(trace, id="file-0"), None) is None
    assert prior_map(replace(trace, id="never"), None) is None


@pytest.mark.slow
def test_an_unrelated_place_stays_unknown() -> None:
    means = stored_priors()[EMBEDDED]["encoder"].means
    assert np.isfinite(means).all(), "an encoder's words have every place"
    assert np.isnan(stored_priors()["headlight-en-fr"]["decoder"].means).any(), "a decoder looks at nothing ahead"
