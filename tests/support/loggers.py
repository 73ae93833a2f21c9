"""All loggers hand on what they are told, so that pytest listens in one place.

pytest hangs its handlers onto every logger that hands nothing on, ten times a test. Libraries have a hundred of these.
"""

from __future__ import annotations

import logging

import pytest


class Loggers:
    """The plugin that tests/conftest.py registers."""

    @pytest.hookimpl
    def pytest_collection_finish(self) -> None:
        """What the tests import is there by now."""
        for logger in logging.root.manager.loggerDict.values():
            if isinstance(logger, logging.Logger):
                logger.propagate = True
