"""The tests leave the garbage where it is, where looking for it takes long and finds nothing.

While the tests themselves are found a million objects come to stay; the collector would go through all of them again
and again. It rests meanwhile, and what has come is then out of its sight.

The app looks through everything in memory once it has loaded a model, so that what was evicted goes and what stays is
out of the collector's sight. Among all that a whole run of the tests has imported this takes longer than loading one of
their tiny models, and they load thousands: so loading leaves it out. Python's own collector works on as ever.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator

import pytest

from inference.load import loading

TIDY = loading.release_memory


class Collecting:
    """The plugin that tests/conftest.py registers."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """The tests are found without a look at what they bring, all of which stays to the end."""
        gc.disable()
        try:
            return (yield)
        finally:
            gc.freeze()
            gc.enable()


@pytest.fixture(scope="session", autouse=True)
def untidy() -> Iterator[None]:
    """Loading collects nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "release_memory", lambda: None)
        yield


@pytest.fixture
def tidy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading collects as in the app: for what is tested about that."""
    monkeypatch.setattr(loading, "release_memory", TIDY)
