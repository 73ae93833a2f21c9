"""Damaged links of the page By hand open its example."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, says

EVEN = "“je” gives “ai” 0.29 of its attention"


@pytest.mark.parametrize(
    "query",
    [{"numbers": "garbage"}, {"preset": "<img>"}, {"heads": 3}, {"row": 99, "column": 2}, {"heads": 0}],
)
def test_a_damaged_link_opens_the_example(query: dict[str, object]) -> None:
    page = asked("by_hand", **query)
    says(page, EVEN)
    assert not page.exception
