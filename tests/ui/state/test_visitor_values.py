"""Values of visitors are kept by cookie, and the oldest are dropped."""

from __future__ import annotations

import pytest

from ui.state import visitor_values
from ui.state.visitor_values import VisitorValues

ANNA, BEN, CLEO = ("a" * 22, "b" * 22, "c" * 22)


def test_each_visitor_has_a_value_until_newer_ones_fill_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    values: VisitorValues[int] = VisitorValues(2)

    def act_as(name: str) -> VisitorValues[int]:
        monkeypatch.setattr(visitor_values, "cookie", lambda: name)
        return values

    act_as(ANNA).put(1)
    act_as(BEN).put(2)
    assert [act_as(name).get() for name in (ANNA, BEN, CLEO)] == [1, 2, None]
    act_as(ANNA).put(3)
    act_as(CLEO).put(4)
    assert [act_as(name).get() for name in (ANNA, BEN, CLEO)] == [3, None, 4]
    act_as(ANNA).delete()
    assert act_as(ANNA).get() is None


@pytest.mark.parametrize("name", ["", "short", "x" * 23])
def test_a_visitor_without_a_valid_cookie_has_no_value(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(visitor_values, "cookie", lambda: name)
    values: VisitorValues[int] = VisitorValues(2)
    values.put(1)
    assert values.get() is None
