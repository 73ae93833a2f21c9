"""The folder from which the tests' app opens models, and a backend with access to the same folder."""

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
    """The app's address, the folder of its models, and a backend that opens them too."""

    url: str
    root: Path
    backend: LocalBackend

    def model(self, name: str) -> str:
        """Return a model's name for a request."""
        return str(self.root / name)

    def place(self, *names: str) -> Path:
        """Create a folder for a test file's models, so deep that the app opens but does not list them."""
        folder = self.root.joinpath("tests", *names)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @contextmanager
    def listed(self, model: str) -> Iterator[str]:
        """Copy a model to a place that the app lists, and remove the copy when the block ends."""
        folder = shutil.copytree(model, self.root / Path(model).name)
        try:
            yield str(folder)
        finally:
            shutil.rmtree(folder)


@pytest.fixture(scope="session")
def served(app: App) -> Served:
    """Return the app with the folder in which each test file saves its models."""
    return Served(app.url, app.models, LocalBackend(Settings(model_folders=(app.models,), offline=True)))
