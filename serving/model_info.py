"""Answers to requests about models: lists, status, identity, download size and download progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inference.backend import LocalBackend
from inference.files.download import Download
from serving.protocol import InvalidFrame, portable

START, STOP = "start", "stop"  # actions of a download request; any other action only returns the progress


class About:
    """The dispatcher of requests about models, each a tuple ``(method, *arguments)``."""

    def __init__(self, backend: LocalBackend) -> None:
        self.backend = backend
        self._downloads: dict[tuple[str, str | None], Download] = {}
        self._tells: Mapping[str, Callable[..., Any]] = {
            "models": lambda: tuple(backend.models()),
            "seeing": lambda: tuple(backend.seeing()),
            "status": backend.status,
            "identity": backend.identity,
            "reads": backend.reads,
            "look": backend.look,
            "download": self.download,
        }

    def tell(self, asked: Any) -> Any:
        """Return the answer to a request; raise UserError, or InvalidFrame if the request is malformed."""
        if not (isinstance(asked, tuple) and asked and all(one is None or isinstance(one, str) for one in asked)):
            raise InvalidFrame("What is asked of models are a word and names.")
        what, *given = asked
        if what not in self._tells or len(given) > 3:
            raise InvalidFrame("This is not asked of models.")
        return self._tells[what](*given)

    def download(self, model: str, revision: str | None, doing: str) -> dict[str, Any]:
        """Start or stop a download if ``doing`` asks for it, and return the progress.

        The files to fetch are looked up here, not taken from the client.
        """
        found = self._downloads.get((model, revision))
        if doing == START:
            found = self._downloads[model, revision] = self.backend.download(self.backend.look(model, revision))
        if found is None:
            return {"state": "done" if self.backend.status(model, revision) in ("here", "loaded") else "new"}
        if doing == STOP:
            found.stop()
        done, total = found.progress
        return {"state": found.state, "done": done, "total": total, "error": portable(found.error)}
