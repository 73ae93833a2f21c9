"""Fixtures of the interface tests; Streamlit reads the environment and the scripts once per test run."""

from __future__ import annotations

from tests.support.askingonce import once  # noqa: F401  (a fixture)
from tests.support.clicking import clicks, written  # noqa: F401  (fixtures)
from tests.support.savedfiles import saved, saved_bytes  # noqa: F401  (fixtures)
