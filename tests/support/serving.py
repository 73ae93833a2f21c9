"""The one folder that the tests' app opens models from, and a backend that opens the same."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from inference import LocalBackend
from inference.settings import Settings
from tests.support.running import App


@dataclass(frozen=True)
class Served:
    """Where the app answers, the folder of its models, and a backend that opens them too."""

    url: str
    root: Path
    backend: LocalBackend

    def model(self, name: str) -> str:
        """A model as a choice names it."""
        return str(self.root / name)

    def place(self, *names: str) -> Path:
        """A folder of one file's models, so deep that the app opens but does not list what is in it."""
        folder = self.root.joinpath("tests", *names)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @contextmanager
    def listed(self, model: str) -> Iterator[str]:
        """A model as the app lists it, by its folder's name, until the block ends: then the lists are as before."""
        folder = shutil.copytree(model, self.root / Path(model).name)
        try:
            yield str(folder)
        finally:
            shutil.rmtree(folder)


@pytest.fixture(scope="session")
def served(app: App) -> Served:
    """The app and its models' folder, which each file puts its own models into."""
    return Served(app.url, app.models, LocalBackend(Settings(model_folders=(app.models,), offline=True)))
