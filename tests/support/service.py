"""A backend behind HTTP on this machine, for the duration of a test."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import pytest
import uvicorn

from attention.trace import Trace
from inference.backend import LocalBackend
from inference.request import TraceRequest
from inference.tasks.model_request import ModelRequest
from serving.remote_backend import RemoteBackend
from serving.service import Service


class _Server(uvicorn.Server):
    """A uvicorn server with an event for the moment when it listens."""

    def __init__(self, app: Any) -> None:
        config = uvicorn.Config(
            app, host="127.0.0.1", port=0, log_config=None, lifespan="off", loop="asyncio", ws="none"
        )
        super().__init__(config)
        self.listens = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listens.set()


@contextmanager
def listening(app: Any) -> Iterator[str]:
    """Serve an ASGI app in a thread; yield its address."""
    server = _Server(app)
    thread = threading.Thread(target=server.run)
    thread.start()
    assert server.listens.wait(60)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def asking(backend: LocalBackend, **more: Any) -> Iterator[RemoteBackend]:
    """Yield a remote backend that sends requests to ``backend`` over HTTP.

    ``more`` contains keyword arguments for the service.
    """
    service = Service(backend, **more)
    with (
        listening(service.app()) as address,
        closing(RemoteBackend.from_url(address, service.token, backend.settings)) as there,
    ):
        yield there
    service.line.close()
    service.short.close()


class _Computes(LocalBackend):
    """A local backend with the same models, which computes for a backend whose requests go over HTTP."""

    computed, made = LocalBackend.computed, LocalBackend.made

    def __init__(self, asks: LocalBackend) -> None:
        super().__init__(asks.settings)
        self.kept_models, self.forwards = asks.kept_models, asks.forwards


@contextmanager
def all_over_http() -> Iterator[None]:
    """Send every request of a LocalBackend to a service over HTTP.

    Requests and answers are therefore serialised.
    """
    apps: list[Any] = []
    asked: WeakKeyDictionary[LocalBackend, RemoteBackend] = WeakKeyDictionary()
    one = threading.Lock()

    async def by_number(scope: Any, receive: Any, send: Any) -> None:
        _nothing, number, path = scope["path"].split("/", 2)
        await apps[int(number)]({**scope, "path": f"/{path}"}, receive, send)

    with listening(by_number) as address, pytest.MonkeyPatch.context() as patch:

        def there(backend: LocalBackend) -> RemoteBackend:
            with one:
                if backend not in asked:
                    apps.append(Service(_Computes(backend)).app())
                    asked[backend] = RemoteBackend.from_url(f"{address}/{len(apps) - 1}", settings=backend.settings)
                return asked[backend]

        def computed(backend: LocalBackend, requests: Sequence[TraceRequest]) -> list[Trace]:
            return there(backend).computed(requests)

        def made(backend: LocalBackend, question: ModelRequest[Any]) -> Any:
            return there(backend).made(question)

        patch.setattr(LocalBackend, "computed", computed)
        patch.setattr(LocalBackend, "made", made)
        yield
