"""What tests of several folders here ask with."""

from __future__ import annotations

from tests.support.clicking import clicks, written  # noqa: F401  (fixtures)
