"""The HTTP service that answers remote backends; requests and answers are messages of serving.protocol.

It is a plain ASGI app, which runs under uvicorn on a single machine (``python -m serving.service``) and in the
replicas of serving.cluster.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hmac
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from attention.codec import Block
from i18n import gettext_lazy
from inference.backend import LocalBackend
from inference.errors import OUT_OF_MEMORY, Parser, UserError
from inference.request import EMBEDDED, TraceRequest
from inference.tasks.model_request import InspectRequest, PredictRequest
from serving.protocol import (
    ABOUT,
    ANSWER,
    AT_ONCE,
    LIVE,
    PORT,
    READY,
    TOKEN,
    TRACES,
    TYPE,
    VISITOR,
    About,
    InvalidFrame,
    blocks_of,
    pack,
    pieces,
    portable,
    unpack,
)
from serving.queue import Batcher, QueueFull, WorkQueue
from serving.request_headers import TooMuch, body_of, host_of, is_loopback, seconds_of, wait_for_disconnect

log = logging.getLogger(__name__)
FULL = gettext_lazy("The server is busy. Try again soon.")
UNREAD = gettext_lazy("The computing server does not understand this question; its version may differ.")
FAILED = gettext_lazy("The computation failed; the server's log has the reason.")
RETRY_AFTER = "1"  # seconds; clients add random jitter
GONE = 499  # status of an answer whose client has disconnected

Work = Callable[[Any, str], Awaitable[list[Block]]]  # (request, visitor) -> blocks of the answer's frame


class Service:
    """An HTTP service around a backend, with queues, deadlines and an optional token.

    If texts for the same model arrive together, they are traced in batches of up to ``batch``; 1 turns batching off.
    """

    def __init__(
        self, backend: LocalBackend, token: str = "", *, batch: int = 1, places: int = 8, most: int = 64
    ) -> None:
        self.backend, self.token = backend, token
        self.line, self.short = (
            WorkQueue(places, most),
            WorkQueue(2, most),
        )  # requests about models must not wait for forward passes
        self.batches = Batcher(backend, self.line, batch) if batch > 1 else None
        self.about = About(backend)
        self.warm = self.failed = False

    def app(self) -> Starlette:
        """Return the ASGI app with the service's routes."""
        asked = {TRACES: self.traces, ANSWER: self.answer, ABOUT: self.describe_models}
        routes = [Route(path, self._endpoint(work), methods=["POST"]) for path, work in asked.items()]
        return Starlette(routes=[*routes, Route(LIVE, _liveness), Route(READY, self._ready)], lifespan=self._lifespan)

    async def traces(self, requests: Any, who: str) -> list[Block]:
        """Compute the traces of a tuple of requests; return their keys and traces as an encoded message.

        ``who`` is the visitor. Raise InvalidFrame if ``requests`` is anything else.
        """
        if not (isinstance(requests, tuple) and 0 < len(requests) <= AT_ONCE):
            raise InvalidFrame("Traces are asked for by some requests.")
        if not all(isinstance(request, TraceRequest) for request in requests):
            raise InvalidFrame("Traces are asked for by requests.")
        if self.batches is not None and len(requests) == 1 and requests[0].picture is None:
            return await self.batches.frame(requests[0])
        return await self.line.run(lambda: self._traces(requests), who)

    def _traces(self, requests: tuple[TraceRequest, ...]) -> list[Block]:
        if len(requests) == 1 or any(request.picture is not None for request in requests):
            found = tuple(self.backend.trace(request) for request in requests)
        else:
            found = tuple(self.backend.traces(requests))
        return blocks_of((tuple(request.key for request in requests), found))

    async def answer(self, question: Any, who: str) -> list[Block]:
        """Compute the answer to a model request; return the request's key and the answer as an encoded message."""
        if isinstance(question, PredictRequest):
            return await self.line.run(lambda: blocks_of((question.key, self.backend.predict(question))), who)
        if isinstance(question, InspectRequest):
            return await self.line.run(lambda: blocks_of((question.key, self.backend.inspect(question))), who)
        raise InvalidFrame("An answer is asked for by a question.")

    async def describe_models(self, asked: Any, who: str) -> list[Block]:
        """Return the answer of ``About`` to a request for facts about models, as an encoded message."""
        return await self.short.run(lambda: blocks_of((asked, portable(self.about.tell(asked)))), who)

    def _endpoint(self, work: Work) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            if (stranger := self._stranger(request)) is not None:
                return stranger
            try:
                asked = unpack(await body_of(request))
                return await _in_time(request, _answer_response(work, asked, request.headers.get(VISITOR, "")))
            except InvalidFrame:
                return _refusal_response(400, UserError(UNREAD))
            except TooMuch:
                return _refusal_response(413, UserError(UNREAD))
            except ClientDisconnect:
                return Response(status_code=GONE)

        return endpoint

    def _stranger(self, request: Request) -> Response | None:
        """Return the response for a client that may not ask, or None.

        With a token, the request must carry it. Without a token, the Host header must name the loopback interface,
        which prevents DNS rebinding. The content type must be that of frames.
        """
        if self.token:
            given = request.headers.get("authorization", "").encode()
            if not hmac.compare_digest(given, f"Bearer {self.token}".encode()):
                return PlainTextResponse("The token is missing or wrong.", 401, {"WWW-Authenticate": "Bearer"})
        elif not is_loopback(host_of(request)):
            return PlainTextResponse("Without a token only this machine is answered.", 403)
        if request.headers.get("content-type") != TYPE:
            return PlainTextResponse("Questions are frames.", 415)
        return None

    def _ready(self, _request: Request) -> Response:
        if self.warm and not self.line.is_full:
            return PlainTextResponse("ready")
        return PlainTextResponse("busy" if self.warm else "starting", 503, {"Retry-After": RETRY_AFTER})

    @contextlib.asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        warming = asyncio.create_task(self.line.run(self.warm_up))
        yield
        warming.cancel()
        self.line.close()
        self.short.close()

    def warm_up(self) -> None:
        """Trace a word, so that the libraries and the embedded model are loaded before the first request.

        Set ``warm`` if this succeeds, else ``failed``.
        """
        try:
            self.backend.trace(TraceRequest(model=EMBEDDED, text="ready"))
            self.warm = True
        except UserError as refusal:
            self.failed = True
            log.error("The embedded model could not be prepared: %s", refusal.message)


class _Frame(Response):
    """A response that is sent in pieces, so that the client reads the first while the last are copied.

    No block of the frame is in memory twice.
    """

    media_type = TYPE

    def __init__(self, blocks: list[Block]) -> None:
        super().__init__(headers={"Content-Length": str(sum(map(len, blocks)))})
        self._blocks = blocks

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send the response."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for piece in pieces(self._blocks):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _liveness(_request: Request) -> Response:
    return PlainTextResponse("live")


async def _answer_response(work: Work, asked: Any, who: str) -> Response:
    """Return the response to a request: its answer, or the error as a frame with its status code."""
    try:
        return _Frame(await work(asked, who))
    except UserError as refusal:
        return _refusal_response(422, refusal)
    except QueueFull:
        return _refusal_response(503, UserError(FULL, way_out="retry"), {"Retry-After": RETRY_AFTER})
    except MemoryError:
        return _refusal_response(422, UserError(OUT_OF_MEMORY, way_out="embedded"))
    except InvalidFrame:
        raise
    # The fields of a frame have unchecked types, and a bad request must not affect the service.
    except Exception as error:
        log.exception("%s while a question was answered", type(error).__name__)
        return _refusal_response(500, UserError(FAILED))


def _refusal_response(status: int, refusal: UserError, headers: dict[str, str] | None = None) -> Response:
    return Response(pack(portable(refusal)), status, headers, TYPE)


async def _in_time(request: Request, answer: Coroutine[Any, Any, Response]) -> Response:
    """Return the response; cancel it if the deadline has passed or the client has disconnected."""
    asking, left = asyncio.current_task(), asyncio.Event()
    assert asking is not None

    def leaves(watch: asyncio.Task[None]) -> None:
        if not watch.cancelled():
            left.set()
            asking.cancel()

    watch = asyncio.create_task(wait_for_disconnect(request))
    watch.add_done_callback(leaves)
    seconds = seconds_of(request)
    try:
        async with asyncio.timeout(seconds):
            return await answer
    except TimeoutError:
        said = gettext_lazy(
            "This took over {seconds:.0f} seconds. Pick a shorter text or smaller model.", seconds=seconds
        )
        return _refusal_response(504, UserError(said, way_out="text"))
    except asyncio.CancelledError:
        if not left.is_set():  # the server is shutting down
            raise
        asking.uncancel()
        return Response(status_code=GONE)
    finally:
        watch.cancel()


def refuse_unusable(host: str, port: int) -> None:
    """Raise UserError if the service cannot listen at this host and port."""
    if not 0 <= port < 2**16:
        raise UserError(f"Port {port} is not a port. Choose a number from 0 to 65535: --port.")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UserError(f"{host} is not an address of this machine. Give one such as 127.0.0.1: --host.") from error
    reasons = []
    for family, kind, protocol, _name, place in found:
        try:
            with socket.socket(family, kind, protocol) as probe:
                # A recently closed port counts as free; on Windows this option has another meaning.
                if os.name == "posix":
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(place)
        except OSError as error:
            reasons.append(error)
    # IPv6 may be disabled, which is not an error.
    taken = [error for error in reasons if error.errno != errno.EADDRNOTAVAIL]
    if taken or len(reasons) == len(found):
        why = (taken or reasons)[0].strerror
        raise UserError(f"Port {port} of {host} cannot be used: {why}. Choose another: --port or --host.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the service until the process is interrupted; return 2 if it cannot start, with the reason on stderr."""
    import uvicorn

    from serving.model_process import SubprocessBackend

    parser = Parser(prog="python -m serving.service", description="The backend over HTTP, by itself.")
    parser.add_argument("--host", default="127.0.0.1", help=f"another than the loopback's needs {TOKEN}")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--batch", type=int, default=1, help="texts that go through a model together")
    wanted = parser.parse_args(arguments)
    token = os.environ.get(TOKEN, "")
    if not is_loopback(wanted.host) and not token:
        print(f"Set {TOKEN}: whoever reaches {wanted.host} could ask.", file=sys.stderr)
        return 2
    try:
        if wanted.batch < 1:
            raise UserError(f"--batch {wanted.batch} is not a number of texts. Give at least 1.")
        refuse_unusable(wanted.host, wanted.port)
        service = Service(SubprocessBackend(), token, batch=wanted.batch)
    except UserError as refusal:
        print(refusal.message, file=sys.stderr)
        return 2
    uvicorn.run(
        service.app(),
        host=wanted.host,
        port=wanted.port,
        http="h11",  # h11 limits the size of request headers; httptools does not
        ws="none",
        access_log=False,
        proxy_headers=False,  # client addresses are not used
        server_header=False,
        date_header=False,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
