"""An option to run these tests over HTTP: `HEADLIGHT_TESTS_ASK=http pytest tests/inference`."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.support.service import all_over_http


@pytest.fixture(scope="session", autouse=True)
def _asked_over_http() -> Iterator[None]:
    if os.environ.get("HEADLIGHT_TESTS_ASK") != "http":
        yield
        return
    with all_over_http():
        yield
