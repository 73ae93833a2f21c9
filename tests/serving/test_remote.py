"""The remote backend: asks again where nobody answered, takes no wrong answer, keeps what it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx2
import numpy as np
import pytest

from inference import EMBEDDED, LocalBackend, Refusal, TraceRequest
from inference.questions.text_sizes import TextSizes
from inference.settings import Settings
from serving.apart import GuardedBackend
from serving.call import Caller
from serving.frames import TYPE
from serving.remote import RemoteBackend, from_env
from serving.values import pack
from tests.support.asking import asked
from tests.support.service import asking
from ui.run import shelf

Answers = Iterator[Callable[[httpx2.Request], httpx2.Response]]


def frame(value: object, status: int = 200, **headers: str) -> Callable[[httpx2.Request], httpx2.Response]:
    return lambda _request: httpx2.Response(status, content=pack(value), headers={"content-type": TYPE, **headers})


def broken(_request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("gone")


class Clock:
    """Time that passes by sleeping only."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def caller(answers: Answers, clock: Clock, token: str = "") -> Caller:
    transport = httpx2.MockTransport(lambda request: next(answers)(request))
    return Caller("http://127.0.0.1", token, transport=transport, sleep=clock.sleep, clock=clock)


def test_it_asks_again_after_a_lost_connection_a_broken_frame_and_a_full_line() -> None:
    clock = Clock()
    full = frame(Refusal("Full."), 503, **{"retry-after": "3"})
    cut = lambda _request: httpx2.Response(200, content=pack(1)[:-1], headers={"content-type": TYPE})  # noqa: E731
    calls = caller(iter([broken, cut, full, lambda _r: httpx2.Response(502), frame("here")]), clock)
    assert calls.ask("/", "what", "key") == "here"
    assert len(clock.slept) == 4
    assert clock.slept[2] >= 1.5


def test_it_gives_up_in_words() -> None:
    clock = Clock()
    with pytest.raises(Refusal, match="does not answer now") as caught:
        caller(iter(lambda: broken, None), clock).ask("/", "what", "key", patience=10)
    assert caught.value.way_out == "retry"
    assert clock.now <= 10


def test_it_asks_again_though_the_first_machine_was_silent_for_longer_than_its_patience() -> None:
    clock = Clock()

    def silent(request: httpx2.Request) -> httpx2.Response:
        clock.now += 70
        return broken(request)

    assert caller(iter([silent, broken, frame("here")]), clock).ask("/", "what", "key") == "here"


def test_a_refusal_and_a_wrong_token_are_not_asked_again() -> None:
    clock = Clock()
    answers = iter([frame(Refusal("No.", way_out="text"), 422), lambda _request: httpx2.Response(401)])
    calls = caller(answers, clock, "token")
    with pytest.raises(Refusal, match=r"No\.") as caught:
        calls.ask("/", "what", "key")
    assert caught.value.way_out == "text"
    with pytest.raises(Refusal, match="the same secret"):
        calls.ask("/", "what", "key")
    assert clock.slept == []


def test_headers_say_who_how_long_and_where() -> None:
    seen: list[httpx2.Headers] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers)
        return frame(1)(request)

    caller(iter([answer]), Clock(), "secret").ask("/", "what", "key", "some/möd el")
    (headers,) = seen
    assert headers["authorization"] == "Bearer secret"
    assert headers["x-session-id"] == "key"
    assert headers["x-headlight-seconds"] == "600.000"
    assert headers["serve_multiplexed_model_id"] == "some/m%C3%B6d%20el"


@pytest.mark.slow
def test_an_answer_to_another_question_is_not_taken() -> None:
    wrong = LocalBackend(Settings()).trace(TraceRequest(text="other"))
    request = TraceRequest(text="mine")
    for reply in (((wrong.id,), (wrong,)), ((request.key,), (wrong,))):
        with pytest.raises(Refusal, match="does not answer now"):
            RemoteBackend(caller(iter([frame(reply)]), Clock()), Settings()).trace(request)


def test_a_page_is_drawn_where_nobody_answers() -> None:
    there = RemoteBackend(caller(iter(lambda: broken, None), Clock()), Settings())
    assert [card.id for card in there.models()] == [EMBEDDED]
    assert (there.seeing(), there.status(EMBEDDED), there.identity(EMBEDDED).name) == ((), "absent", EMBEDDED)
    with pytest.raises(Refusal):
        there.reads(EMBEDDED)


@pytest.mark.slow
def test_questions_and_models_are_those_of_the_backend_there() -> None:
    here = LocalBackend(Settings())
    question = TextSizes(texts=("a cat", "a much longer text"))
    with asking(here, token="secret") as there:
        assert there.models() == tuple(here.models())
        np.testing.assert_array_equal(there.inspect(question).tokens, here.inspect(question).tokens)
        assert there.reads(EMBEDDED) == here.reads(EMBEDDED) == "text"
        trace = there.trace(TraceRequest(text="a cat"))
        assert there.identity(EMBEDDED) == trace.model
        assert there.recent(trace.id) is trace
        assert there.kept_traces.nbytes == trace.nbytes


def test_a_setting_says_where_the_backend_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert from_env() is None
    assert isinstance(shelf.backend.__wrapped__(), GuardedBackend)
    monkeypatch.setenv("HEADLIGHT_BACKEND", "http://127.0.0.1:1")
    there = shelf.backend.__wrapped__()
    assert isinstance(there, RemoteBackend)
    there.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["explore", "step_by_step", "tokens"])
def test_a_page_is_drawn_by_a_backend_elsewhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = LocalBackend(Settings())
    with asking(here) as there:
        monkeypatch.setenv("HEADLIGHT_BACKEND", there.address)
        shelf.backend.cache_clear()
        try:
            page = asked(name)
            there_too = shelf.backend()
        finally:
            shelf.backend.cache_clear()
        assert isinstance(there_too, RemoteBackend)
        there_too.close()
    assert not page.exception
    assert len(there_too.kept_models) == 0
    assert here.kept_answers.additions + here.kept_traces.additions > 0
