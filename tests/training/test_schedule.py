"""The learning-rate schedule: warm-up, linear decay to 0, and replanning during a run."""

from __future__ import annotations

import pytest

from inference.errors import UserError
from training.schedule import start


def test_a_plan_by_hand() -> None:
    shape = start(warm_up=4, last=8)
    assert [shape.share(step) for step in range(9)] == [0.25, 0.5, 0.75, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0]


def test_a_new_plan_goes_on_from_where_the_rate_is_and_leaves_the_past() -> None:
    before = start(warm_up=10, last=110)
    after = before.replan(60, last=260)
    assert [after.share(step) for step in range(61)] == [before.share(step) for step in range(61)]
    assert after.share(160) == pytest.approx(0.25)
    assert after.share(260) == 0.0
    falling = [after.share(step) for step in range(10, 261)]
    assert falling == sorted(falling, reverse=True)


def test_a_rate_that_has_come_to_nothing_can_be_raised() -> None:
    before = start(warm_up=2, last=6)
    after = before.replan(6, last=10, share=0.5)
    assert [after.share(step) for step in range(6)] == [before.share(step) for step in range(6)]
    assert [after.share(step) for step in (6, 8, 10)] == [0.5, 0.25, 0.0]


def test_a_plan_made_while_warming_up_starts_at_its_end() -> None:
    assert start(warm_up=10, last=20).replan(5, last=110) == start(warm_up=10, last=110)


def test_a_plan_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(UserError, match=r"5, .* step 5"):
        start(2, 9).replan(5, last=5)
    with pytest.raises(UserError, match=r"^4 steps .* of 4"):
        start(4, 4)
