"""The four tasks of the baselines: targets that follow from the text, at the stated distance."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.cases import loop_over
from training.architecture_baselines.training import ASK, BLANK, COPIED, KEYS, NEAR, TASKS, UNASKED, VALUES

SEVERAL = (1, 4, 9, 16, 40)


@loop_over("name", TASKS)
@loop_over("distance", SEVERAL)
def test_a_seed_gives_one_drawing_whose_ids_are_the_task_s(name: str, distance: int) -> None:
    task = TASKS[name]
    distance = max(distance, task.least)
    (ids, targets), again = (task.draw(np.random.default_rng(3), 7, distance) for _ in range(2))
    np.testing.assert_array_equal(ids, again[0])
    np.testing.assert_array_equal(targets, again[1])
    assert ids.shape == targets.shape
    assert len(ids) == 7
    assert ids.min() >= 0
    assert max(ids.max(), targets.max()) < task.tokens
    assert (targets[:, -1] != UNASKED).all()


@pytest.mark.parametrize("distance", [8, 13])
def test_letters_are_asked_for_where_they_were_so_many_tokens_before(distance: int) -> None:
    ids, targets = TASKS["copying"].draw(np.random.default_rng(0), 5, distance)
    np.testing.assert_array_equal(targets[:, distance:], ids[:, :-distance])
    assert (ids[:, distance] == ASK).all()
    assert (ids[:, COPIED:distance] == BLANK).all()
    assert all(len(set(row[:COPIED].tolist())) == COPIED for row in ids)


@pytest.mark.parametrize("distance", SEVERAL)
def test_the_asked_key_has_its_value_so_many_tokens_back_and_nowhere_else(distance: int) -> None:
    ids, targets = TASKS["recall"].draw(np.random.default_rng(distance), 6, distance)
    asked = ids[:, -1] - (VALUES * KEYS + 1)
    np.testing.assert_array_equal(ids[:, -1 - distance], VALUES * asked + targets[:, -1])
    named = [[one // VALUES for one in row[:-1].tolist() if one < VALUES * KEYS] for row in ids]
    assert all(len(keys) == len(set(keys)) == 5 for keys in named)


@pytest.mark.parametrize("distance", SEVERAL)
def test_the_first_of_the_two_is_the_answer(distance: int) -> None:
    ids, targets = TASKS["order"].draw(np.random.default_rng(distance), 30, distance)
    for row, answer in zip(ids, targets[:, -1], strict=True):
        first, later = (place for place, one in enumerate(row) if one < 2)
        assert row[first] == answer != row[later]
        assert len(row) - 1 - later == distance
        assert later - first <= NEAR
    assert set(targets[:, -1].tolist()) == {0, 1}


def test_the_running_count_by_hand() -> None:
    ids, targets = TASKS["parity"].draw(np.random.default_rng(1), 4, 9)
    for row, answers in zip(ids.tolist(), targets.tolist(), strict=True):
        assert answers == [sum(row[: place + 1]) % 2 for place in range(9)]
