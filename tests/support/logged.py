"""A fixture with the warnings that are logged during a test.

pytest's own plugin is off (pyproject.toml): six times per test it adds its handlers to all of Streamlit's hundred
loggers, which takes a fifteenth of the time of the quick tests.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


class Kept(logging.Handler):
    """A handler that collects the messages of log records."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Append the record's message."""
        self.told.append(record.getMessage())


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """Yield the messages of warnings and errors, also from transformers, whose loggers do not propagate."""
    kept = Kept()
    loggers = [logging.getLogger(name) for name in (None, "transformers")]
    for logger in loggers:
        logger.addHandler(kept)
    yield kept.told
    for logger in loggers:
        logger.removeHandler(kept)
