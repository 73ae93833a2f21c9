"""Fewer garbage collections during tests, which take long there and free nothing.

Collecting the tests creates a million objects that stay, and the garbage collector would traverse them again and
again. The collector is therefore off during collection, and the new objects are frozen afterwards.

The app runs a full collection after it has loaded a model, to free evicted models and to freeze the rest. With
everything that a complete test run imports, this takes longer than loading a tiny test model, and the tests load
thousands. Loading therefore skips this collection in tests. Python's automatic collection stays on.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator

import pytest

from inference import loaded_model
from inference.load import loading

TIDY = loaded_model.release_memory


class Collecting:
    """The plugin that tests/conftest.py registers."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """Disable the garbage collector while pytest collects tests, then freeze the objects."""
        gc.disable()
        try:
            return (yield)
        finally:
            gc.freeze()
            gc.enable()


@pytest.fixture(scope="session", autouse=True)
def untidy() -> Iterator[None]:
    """Skip the garbage collection after loading a model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "release_memory", lambda: None)
        yield


@pytest.fixture
def tidy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the garbage collection after loading, for tests of that collection."""
    monkeypatch.setattr(loading, "release_memory", TIDY)
