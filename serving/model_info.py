"""What a backend says of its models: their list, where one is, what downloading it would mean, how far that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inference.backend import LocalBackend
from inference.files.download import Download
from serving.protocol import InvalidFrame, portable

START, STOP = "start", "stop"  # what is asked of a download; anything else only looks


class About:
    """Answers ``(what, *given)``."""

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
        """The answer; raises Refusal, or Broken for what is not asked."""
        if not (isinstance(asked, tuple) and asked and all(one is None or isinstance(one, str) for one in asked)):
            raise InvalidFrame("What is asked of models are a word and names.")
        what, *given = asked
        if what not in self._tells or len(given) > 3:
            raise InvalidFrame("This is not asked of models.")
        return self._tells[what](*given)

    def download(self, model: str, revision: str | None, doing: str) -> dict[str, Any]:
        """How far a model's download is, after it was started or stopped. What to fetch is looked up here."""
        found = self._downloads.get((model, revision))
        if doing == START:
            found = self._downloads[model, revision] = self.backend.download(self.backend.look(model, revision))
        if found is None:
            return {"state": "done" if self.backend.status(model, revision) in ("here", "loaded") else "new"}
        if doing == STOP:
            found.stop()
        done, total = found.progress
        return {"state": found.state, "done": done, "total": total, "error": portable(found.error)}
