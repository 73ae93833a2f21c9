"""Fixtures of tiny models, shared by several browser tests."""

from __future__ import annotations

from tests.support.generating import writer  # noqa: F401  (a fixture)
from tests.support.predictors import predictor  # noqa: F401  (a fixture)
from tests.support.serving import served  # noqa: F401  (a fixture)
from tests.support.translators import translator  # noqa: F401  (a fixture)
