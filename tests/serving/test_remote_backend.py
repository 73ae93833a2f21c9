"""The remote backend repeats requests without an answer, rejects wrong answers and caches traces."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from urllib3 import BaseHTTPResponse, HTTPConnectionPool, HTTPResponse, Timeout
from urllib3.connection import HTTPConnection
from urllib3.exceptions import ProtocolError, ReadTimeoutError

from inference import EMBEDDED, LocalBackend, TraceRequest, UserError
from inference.settings import Settings
from inference.tasks.hidden_states import TextSizes
from serving import remote_backend
from serving.model_process import SubprocessBackend
from serving.protocol import TYPE, pack
from serving.remote_backend import NOBODY, STRANGER, Caller, RemoteBackend, from_env
from tests.support.asking import asked
from tests.support.service import asking
from ui.run import services

Reply = Callable[[], BaseHTTPResponse]


def reply(status: int, body: bytes = b"", **headers: str) -> Reply:
    return lambda: HTTPResponse(BytesIO(body), {"content-type": TYPE, **headers}, status, preload_content=False)


def frame(value: object, status: int = 200, **headers: str) -> Reply:
    return reply(status, pack(value), **headers)


def broken() -> BaseHTTPResponse:
    raise ProtocolError("gone")


class Pool:
    """A connection pool with prepared answers; it records the requests and their time limits."""

    def __init__(self, answers: Iterator[Reply]) -> None:
        self.answers, self.seen, self.waited = answers, list[tuple[str, str, dict[str, str]]](), list[float]()

    def urlopen(self, method: str, url: str, **more: Any) -> BaseHTTPResponse:
        self.waited.append(more["timeout"].read_timeout)
        self.seen.append((method, url, {name.lower(): value for name, value in more["headers"].items()}))
        return next(self.answers)()

    def close(self) -> None:
        pass


class Clock:
    """A clock that advances only by ``sleep``."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def caller(answers: Iterator[Reply], clock: Clock, token: str = "") -> Caller:
    return Caller("http://127.0.0.1", token, connections=Pool(answers), sleep=clock.sleep, clock=clock)


def test_it_asks_again_after_a_lost_connection_a_broken_frame_and_a_full_line() -> None:
    clock = Clock()
    full = frame(UserError("Full."), 503, **{"retry-after": "3"})
    calls = caller(iter([broken, reply(200, pack(1)[:-1]), full, reply(502), frame("here")]), clock)
    assert calls.ask("/", "what", "key") == "here"
    assert len(clock.slept) == 4
    assert clock.slept[2] >= 1.5


def test_a_proxy_that_knows_of_no_replica_yet_is_asked_again() -> None:
    not_yet = reply(404, b"Path not found", **{"content-type": "text/plain"})
    assert caller(iter([not_yet, frame("here")]), Clock()).ask("/", "what", "key") == "here"


def test_it_gives_up_in_words() -> None:
    clock = Clock()
    with pytest.raises(UserError, match=re.escape(NOBODY)) as caught:
        caller(iter(lambda: broken, None), clock).ask("/", "what", "key", patience=10)
    assert caught.value.way_out == "retry"
    assert clock.now <= 10


def test_it_asks_again_though_the_first_machine_was_silent_for_longer_than_its_patience() -> None:
    clock = Clock()

    def silent() -> BaseHTTPResponse:
        clock.now += 70
        return broken()

    assert caller(iter([silent, broken, frame("here")]), clock).ask("/", "what", "key") == "here"


def test_a_refusal_and_a_wrong_token_are_not_asked_again() -> None:
    clock = Clock()
    answers = iter([frame(UserError("No.", way_out="text"), 422), reply(401)])
    calls = caller(answers, clock, "token")
    with pytest.raises(UserError, match=r"No\.") as caught:
        calls.ask("/", "what", "key")
    assert caught.value.way_out == "text"
    with pytest.raises(UserError, match=re.escape(STRANGER)):
        calls.ask("/", "what", "key")
    assert clock.slept == []


def test_headers_say_who_how_long_and_where() -> None:
    pool = Pool(iter([frame(1)]))
    there = Caller("http://127.0.0.1/behind/", "secret", connections=pool, clock=Clock())
    there.ask("/v1/about", "what", "key", "some/möd el")
    ((method, url, headers),) = pool.seen
    assert (method, url) == ("POST", "/behind/v1/about")
    assert headers["authorization"] == "Bearer secret"
    assert headers["x-session-id"] == "key"
    assert headers["x-headlight-seconds"] == "600.000"
    assert headers["serve_multiplexed_model_id"] == "some/m%C3%B6d%20el"


def test_a_server_that_takes_a_question_and_says_nothing_is_waited_for_no_longer_than_the_answer_may_take() -> None:
    clock, waited = Clock(), list[float]()

    def silent() -> BaseHTTPResponse:
        clock.now += pool.waited[-1]
        raise ReadTimeoutError(HTTPConnectionPool("127.0.0.1"), "/", "silent")

    pool = Pool(iter(lambda: silent, None))
    calls = Caller("http://127.0.0.1", connections=pool, sleep=clock.sleep, clock=clock)
    there = RemoteBackend(calls, Settings())
    for ask in (there.models, lambda: there.trace(TraceRequest(text="cat"))):
        began = clock.now
        with suppress(UserError):
            ask()
        waited.append(clock.now - began)
    assert waited == [35, 605]


def test_a_silent_connection_is_given_up_in_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection is not read afterwards, which would wait for the same time again."""
    monkeypatch.setattr(HTTPConnection, "getresponse", lambda _: pytest.fail("It was read."))
    with socket.create_server(("127.0.0.1", 0)) as server:
        pool, start = remote_backend.connections_to(f"http://127.0.0.1:{server.getsockname()[1]}")
        with pytest.raises(ReadTimeoutError):
            pool.urlopen("POST", f"{start}/", body=b"?", timeout=Timeout(read=0.1), retries=False)
        pool.close()


def test_no_more_is_taken_in_than_an_answer_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_backend, "MOST_ANSWERED", 100)
    for stated in ("", "101"):
        answer = reply(200, pack("x" * 200), **{"content-length": stated})
        with pytest.raises(UserError, match=re.escape(NOBODY)):
            caller(iter([answer]), Clock()).ask("/", "what", "key")


def test_a_proxy_is_on_the_way_to_other_machines_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    for address, proxied, before in (
        ("http://127.0.0.1:8765", False, ""),
        ("http://computes.example/behind", True, "http://computes.example/behind"),
        ("https://computes.example/behind", True, "/behind"),
    ):
        pool, start = remote_backend.connections_to(address)
        assert (pool.proxy is not None, start) == (proxied, before)


@pytest.mark.slow
def test_an_answer_to_another_question_is_not_taken() -> None:
    wrong = LocalBackend(Settings()).trace(TraceRequest(text="other"))
    request = TraceRequest(text="mine")
    for reply in (((wrong.id,), (wrong,)), ((request.key,), (wrong,))):
        with pytest.raises(UserError, match=re.escape(NOBODY)):
            RemoteBackend(caller(iter([frame(reply)]), Clock()), Settings()).trace(request)


def test_a_page_is_drawn_where_nobody_answers() -> None:
    there = RemoteBackend(caller(iter(lambda: broken, None), Clock()), Settings())
    assert [card.id for card in there.models()] == [EMBEDDED]
    assert (there.seeing(), there.status(EMBEDDED), there.identity(EMBEDDED).name) == ((), "absent", EMBEDDED)
    with pytest.raises(UserError):
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
    assert isinstance(services.get_backend.__wrapped__(), SubprocessBackend)
    monkeypatch.setenv("HEADLIGHT_BACKEND", "http://127.0.0.1:1")
    there = services.get_backend.__wrapped__()
    assert isinstance(there, RemoteBackend)
    there.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["explore", "step_by_step", "tokens"])
def test_a_page_is_drawn_by_a_backend_elsewhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = LocalBackend(Settings())
    with asking(here) as there:
        monkeypatch.setenv("HEADLIGHT_BACKEND", there.address)
        services.get_backend.cache_clear()
        try:
            page = asked(name)
            there_too = services.get_backend()
        finally:
            services.get_backend.cache_clear()
        assert isinstance(there_too, RemoteBackend)
        there_too.close()
    assert not page.exception
    assert len(there_too.kept_models) == 0
    assert here.kept_answers.additions + here.kept_traces.additions > 0
