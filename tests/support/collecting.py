"""Tests that load a model leave the garbage where it is.

The app looks through everything in memory once it has loaded a model, so that what was evicted goes and what stays is
out of the collector's sight. Among all that a whole run of the tests has imported this takes longer than loading one of
their tiny models, and they load thousands. Python's own collector works on as ever.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from inference.load import loading

TIDY = loading.tidy


@pytest.fixture(scope="session", autouse=True)
def untidy() -> Iterator[None]:
    """Loading collects nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "tidy", lambda: None)
        yield


@pytest.fixture
def tidy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading collects as in the app: for what is tested about that."""
    monkeypatch.setattr(loading, "tidy", TIDY)
