"""A backend behind HTTP on this machine, for the length of a test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import uvicorn

from inference.backend import LocalBackend
from serving.remote import RemoteBackend
from serving.service import Service


class _Server(uvicorn.Server):
    """One that says when it listens."""

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
    """The address at which an ASGI app answers."""
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
    """A backend that asks the given one over HTTP, with settings of its own for what it keeps."""
    service = Service(backend, **more)
    with (
        listening(service.app()) as address,
        closing(RemoteBackend.at(address, service.token, backend.settings)) as there,
    ):
        yield there
    service.line.close()
    service.short.close()
