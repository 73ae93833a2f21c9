"""Tests of the service: permissions, limits on size and time, and errors for invalid requests."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import httpx2
import pytest

from attention.trace import Trace
from inference import LocalBackend, TraceRequest, UserError, cancellation
from inference.cancellation import Cancelled, wait
from inference.settings import Settings
from serving import request_headers
from serving.protocol import ABOUT, ANSWER, DEADLINE, LIVE, READY, TOKEN, TRACES, TYPE, pack, unpack
from serving.queue import Batcher, QueueFull, WorkQueue
from serving.service import GONE, Service, main
from tests.support.cases import loop_over
from tests.support.service import asking

LOCAL = "http://127.0.0.1"


class Held(LocalBackend):
    """A backend that counts the requests for traces and blocks them until a gate opens."""

    def __init__(self) -> None:
        super().__init__(Settings())
        self.gate, self.begun = threading.Event(), threading.Semaphore(0)
        self.asked: list[str] = []

    def trace(self, request: TraceRequest) -> Trace:
        self.asked.append(request.text)
        self.begun.release()
        assert self.gate.wait(60)
        raise UserError("It was asked.")


class Endless(LocalBackend):
    """A backend that computes until it is cancelled."""

    def __init__(self) -> None:
        super().__init__(Settings())
        self.begun, self.ended = threading.Event(), threading.Event()
        self.asked: list[str] = []

    def computed(self, requests: Sequence[TraceRequest]) -> list[Trace]:
        self.asked = [request.text for request in requests]
        self.begun.set()
        try:
            wait(Future())
        finally:
            self.ended.set()
        raise AssertionError


def ask(service: Service, path: str, body: bytes, base: str = LOCAL, **headers: str) -> httpx2.Response:
    async def once() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=service.app())
        async with httpx2.AsyncClient(transport=transport, base_url=base) as client:
            return await client.post(path, content=body, headers={"content-type": TYPE, **headers})

    return asyncio.run(once())


@pytest.fixture(scope="module")
def service() -> Service:
    return Service(LocalBackend(Settings()))


def test_what_is_told_of_models(service: Service) -> None:
    answer = ask(service, ABOUT, pack(("models",)))
    asked, cards = unpack(answer.content)
    assert (answer.status_code, asked, cards) == (200, ("models",), tuple(service.backend.models()))


@loop_over(
    ("path", "body"),
    [
        (TRACES, b""),
        (TRACES, b"\x80\x04junk"),
        (TRACES, pack(())),
        (TRACES, pack(("a",))),
        (TRACES, pack(tuple(TraceRequest(text=str(n)) for n in range(17)))),
        (ANSWER, pack(TraceRequest(text="a"))),
        (ABOUT, pack(("settings",))),
        (ABOUT, pack(("status", 3))),
        (ABOUT, pack(())),
    ],
)
def test_what_is_no_question_is_refused_in_a_frame(service: Service, path: str, body: bytes) -> None:
    answer = ask(service, path, body)
    assert answer.status_code == 400
    assert "does not understand" in unpack(answer.content).message


def test_fields_of_wrong_types_break_nothing(service: Service, logged: list[str]) -> None:
    answer = ask(service, TRACES, pack((TraceRequest(text="a", cut="x"),)))  # type: ignore[arg-type]
    assert answer.status_code == 500
    assert isinstance(unpack(answer.content), UserError)
    assert any("while a question was answered" in told for told in logged)


def test_a_refusal_is_a_frame(service: Service) -> None:
    answer = ask(service, TRACES, pack((TraceRequest(text=" "),)))
    refusal = unpack(answer.content)
    assert (answer.status_code, refusal.way_out) == (422, "text")


def test_who_has_no_token_is_told_nothing() -> None:
    service = Service(LocalBackend(Settings()), "secret")
    body = pack(("models",))
    assert ask(service, ABOUT, body).status_code == 401
    assert ask(service, ABOUT, body, authorization="Bearer wrong").status_code == 401
    assert ask(service, ABOUT, body, "http://else.example", authorization="Bearer secret").status_code == 200


def test_without_a_token_only_the_loopback_is_answered_and_no_page_of_another_site(service: Service) -> None:
    body = pack(("models",))
    assert ask(service, ABOUT, body, "http://rebound.example").status_code == 403
    assert ask(service, ABOUT, body, **{"content-type": "text/plain"}).status_code == 415


def test_too_much_is_not_taken_in(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_headers, "MOST_ASKED", 100)
    assert ask(service, ABOUT, b"x" * 101).status_code == 413
    assert ask(service, ABOUT, b"x" * 100).status_code == 400


def within(service: Service, doing: Callable[[httpx2.AsyncClient], Any]) -> Any:
    async def run() -> Any:
        transport = httpx2.ASGITransport(app=service.app())
        async with httpx2.AsyncClient(transport=transport, base_url=LOCAL, headers={"content-type": TYPE}) as client:
            return await doing(client)

    return asyncio.run(run())


def test_a_full_line_says_when_to_come_again() -> None:
    backend = Held()
    service = Service(backend, places=1, most=1)

    async def two(client: httpx2.AsyncClient) -> httpx2.Response:
        first = asyncio.create_task(client.post(TRACES, content=pack((TraceRequest(text="a"),))))
        await asyncio.to_thread(backend.begun.acquire)
        second = await client.post(TRACES, content=pack((TraceRequest(text="b"),)))
        ready = await client.get(READY)
        live = await client.get(LIVE)
        backend.gate.set()
        assert (await first).status_code == 422
        assert (ready.status_code, live.status_code) == (503, 200)
        return second

    answer = within(service, two)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert unpack(answer.content).way_out == "retry"
    assert (backend.asked, service.line.waits.refused) == (["a"], 1)


def test_who_waits_too_long_leaves_the_line_and_is_never_computed() -> None:
    backend = Held()
    service = Service(backend, places=1)

    async def two(client: httpx2.AsyncClient) -> httpx2.Response:
        first = asyncio.create_task(client.post(TRACES, content=pack((TraceRequest(text="a"),))))
        await asyncio.to_thread(backend.begun.acquire)
        late = await client.post(TRACES, content=pack((TraceRequest(text="late"),)), headers={DEADLINE: "0"})
        backend.gate.set()
        await first
        return late

    answer = within(service, two)
    assert answer.status_code == 504
    assert "over 0 seconds" in unpack(answer.content).message
    assert backend.asked == ["a"]


def test_who_has_gone_leaves_the_line() -> None:
    backend = Held()
    service = Service(backend, places=1)
    body = pack((TraceRequest(text="gone"),))
    headers = [(b"content-type", TYPE.encode()), (b"host", b"127.0.0.1")]
    scope = {"type": "http", "method": "POST", "path": TRACES, "headers": headers, "query_string": b"",
             "server": ("127.0.0.1", 80), "scheme": "http"}  # fmt: skip
    sent: list[Any] = []

    async def run() -> None:
        first = asyncio.create_task(service.line.run(lambda: backend.gate.wait(60)))
        await asyncio.sleep(0)  # The first task now occupies the only place.
        messages = iter([{"type": "http.request", "body": body}, {"type": "http.disconnect"}])

        async def receive() -> Any:
            return next(messages)

        async def send(message: Any) -> None:
            sent.append(message)

        await service.app()(scope, receive, send)
        backend.gate.set()
        await first

    asyncio.run(run())
    assert sent[0]["status"] == GONE
    assert backend.asked == []


@pytest.mark.slow
def test_a_pass_ends_when_its_time_is_over() -> None:
    backend = Endless()
    service = Service(backend)
    answer = ask(service, TRACES, pack((TraceRequest(text="a"),)), **{DEADLINE: "0.2"})
    assert answer.status_code == 504
    assert not backend.begun.is_set() or backend.ended.wait(60)


@pytest.mark.slow
def test_a_pass_ends_when_its_visitor_leaves_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancellation, "LOOK", 0.01)
    backend, stop = Endless(), cancellation.CancelToken("visitor")

    def leaves() -> None:
        backend.begun.wait(60)
        stop.stop()

    leaving = threading.Thread(target=leaves)
    leaving.start()
    with asking(backend) as there, cancellation.use_token(stop), pytest.raises(Cancelled):
        there.trace(TraceRequest(text="a"))
    leaving.join()
    assert backend.ended.wait(60)


def test_a_batch_ends_when_all_of_its_visitors_have_left() -> None:
    async def run() -> None:
        backend, line = Endless(), WorkQueue(1, 8)
        batches = Batcher(backend, line)
        one, two, same, early = (
            asyncio.create_task(batches.frame(TraceRequest(text=text))) for text in ("one", "two", "one", "early")
        )
        await asyncio.sleep(0)
        early.cancel()
        assert await asyncio.to_thread(backend.begun.wait, 60)
        assert backend.asked == ["one", "two"]
        one.cancel()
        two.cancel()
        await asyncio.wait({one, two})
        assert not backend.ended.is_set()
        same.cancel()
        assert await asyncio.to_thread(backend.ended.wait, 60)
        line.close()

    asyncio.run(run())


def test_who_comes_when_all_others_have_left_is_in_a_batch_of_their_own() -> None:
    async def run() -> None:
        backend, line = Endless(), WorkQueue(1, 8)
        batches = Batcher(backend, line)
        first = asyncio.create_task(batches.frame(TraceRequest(text="first")))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait({first})
        second = asyncio.create_task(batches.frame(TraceRequest(text="second")))
        assert await asyncio.to_thread(backend.begun.wait, 60)
        assert backend.asked == ["second"]
        second.cancel()
        assert await asyncio.to_thread(backend.ended.wait, 60)
        line.close()

    asyncio.run(run())


def test_a_line_is_empty_again_when_all_have_left() -> None:
    async def run() -> None:
        line, gate = WorkQueue(1, 2), threading.Event()
        first, second = (asyncio.create_task(line.run(lambda: gate.wait(60))) for _ in range(2))
        await asyncio.sleep(0)
        assert line.is_full
        with pytest.raises(QueueFull):
            await line.run(lambda: None)
        second.cancel()
        gate.set()
        assert await first
        assert await line.run(lambda: 3) == 3
        line.close()

    asyncio.run(run())


def test_what_is_computed_ends_when_nobody_waits_for_it_any_more() -> None:
    async def run() -> None:
        line, begun, ended = WorkQueue(1, 2), threading.Event(), threading.Event()

        def work() -> None:
            begun.set()
            try:
                wait(Future())
            except Cancelled:
                ended.set()

        first = asyncio.create_task(line.run(work))
        await asyncio.to_thread(begun.wait, 60)
        first.cancel()
        assert await asyncio.to_thread(ended.wait, 60)
        assert await line.run(lambda: 3) == 3
        line.close()

    asyncio.run(run())


@pytest.mark.slow
def test_texts_that_arrive_together_go_together_and_one_alone_is_refused() -> None:
    backend, batches = LocalBackend(Settings()), []
    real = backend.traces

    def noting(requests: Any) -> Any:
        batches.append([request.text for request in requests])
        return real(requests)

    backend.traces = noting  # type: ignore[method-assign]

    async def several(*texts: str) -> list[Any]:
        line = WorkQueue(1, 8)
        together = Batcher(backend, line, most=3)
        asked = [together.frame(TraceRequest(text=text)) for text in texts]
        found = await asyncio.gather(*asked, return_exceptions=True)
        line.close()
        return found

    *read, refused, last = asyncio.run(several("a cat", "a dog", "a cat", " ", "a cow"))
    traces = [trace for _keys, (trace,) in (unpack(b"".join(blocks)) for blocks in (*read, last))]
    assert [trace.text for trace in traces] == ["a cat", "a dog", "a cat", "a cow"]
    assert read[0] is read[2], "a text is told once, however many asked"
    assert isinstance(refused, UserError)
    assert batches == [["a cat", "a dog", " "], ["a cow"]]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--port", "99999999"], "Port 99999999 is not a port"),
        (["--port", "-1"], "Port -1 is not a port"),
        (["--port", "TAKEN"], "cannot be used: Address already in use"),
        (["--host", "a" * 70], "is not an address of this machine"),
        (["--host", "192.0.2.1"], "192.0.2.1"),
        (["--batch", "0"], "--batch 0 is not a number of texts"),
    ],
)
def test_an_unusable_option_is_refused_in_a_line(
    options: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("uvicorn.run", lambda *_arguments, **_options: pytest.fail("the service starts"))
    monkeypatch.setenv(TOKEN, "secret")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        options = [option.replace("TAKEN", str(taken.getsockname()[1])) for option in options]
        assert main(options) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
