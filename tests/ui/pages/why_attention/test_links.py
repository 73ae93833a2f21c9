"""A link with numbers that the page Why attention cannot show."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, says


@pytest.mark.slow
def test_numbers_out_of_bounds_are_brought_within() -> None:
    page = asked("why_attention", k=1, n=9999999, d="x")
    says(page, "At n = 100,000 and d = 384")
    says(page, "of width 2")
    says(page, "“d” should")
