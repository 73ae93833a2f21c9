"""What is logged while a test runs, for the tests that ask. pytest's own plugin is off (pyproject.toml): six times a
test it goes through all loggers and adds itself to each of Streamlit's hundred, a fifteenth of what the quick tests
take."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


class Kept(logging.Handler):
    """Keeps what is logged, a sentence each."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps one."""
        self.told.append(record.getMessage())


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """Warnings and worse, of ours and of transformers, which hands its own to nobody."""
    kept = Kept()
    loggers = [logging.getLogger(name) for name in (None, "transformers")]
    for logger in loggers:
        logger.addHandler(kept)
    yield kept.told
    for logger in loggers:
        logger.removeHandler(kept)
