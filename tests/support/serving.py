"""An app of its own whose operator allows one folder of models, and a backend that opens the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from inference import LocalBackend
from inference.settings import Settings
from tests.support.browser import faults, running


@dataclass(frozen=True)
class Served:
    """Where the app answers, the folder of its models, and a backend that opens them too."""

    url: str
    root: Path
    backend: LocalBackend

    def model(self, name: str) -> str:
        """A model as a choice names it."""
        return str(self.root / name)


@contextmanager
def serving(root: Path) -> Iterator[Served]:
    """The app while it serves the folder's models; its log must be clean in the end."""
    log = root / "app.log"
    with running(log, environ={"HEADLIGHT_MODEL_FOLDERS": str(root)}) as started:
        yield Served(started.url, root, LocalBackend(Settings(model_folders=(root,), offline=True)))
    assert not faults(log.read_text(errors="replace"))
