"""Apps of their own that several files of browser tests visit, each over tiny models; started once for a file."""

from __future__ import annotations

from tests.support.generating import writer  # noqa: F401  (a fixture)
from tests.support.predictors import predictor  # noqa: F401  (a fixture)
from tests.support.translators import translator  # noqa: F401  (a fixture)
