"""Answers under many edit sets: asked in batches, each equals its own request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from attention.edits import Ablate
from attention.record import Record
from inference.tasks.edit_effects import Effect, NextTokenEffects, VectorEffects
from probing import edit_answers
from tests.support.traces import sentence_trace


@dataclass
class Counting:
    """A backend that answers each edit set with the sum of its heads, and keeps the sizes of the requests."""

    asked: list[tuple[str, int]]

    def _answer(self, how: str, request: Any) -> Effect:
        self.asked.append((how, len(request.edits)))
        return Effect(np.array([[sum(edit.head for edit in edits)] for edits in request.edits], np.float32), ("a",))

    def inspect(self, request: Any) -> Effect:
        return self._answer("inspect", request)

    def predict(self, request: Any) -> Effect:
        return self._answer("predict", request)


def test_batches_give_each_set_its_own_answer() -> None:
    backend: Any = Counting([])
    sets = [(), *((Ablate(0, head), Ablate(1, head)) for head in range(9))]
    tokens = edit_answers.AT_ONCE // 4
    found = edit_answers.answers_under(backend, NextTokenEffects(), sets, tokens)
    assert backend.asked == [("predict", 4), ("predict", 4), ("predict", 2)]
    alone = [edit_answers.answers_under(backend, NextTokenEffects(), [one], tokens)[0] for one in sets]
    np.testing.assert_array_equal(found, alone)
    edit_answers.answers_under(backend, replace(VectorEffects(), text="a"), sets[:2], 10 * edit_answers.AT_ONCE)
    assert backend.asked[-2:] == [("inspect", 1), ("inspect", 1)]


def test_a_step_is_smaller_for_a_larger_model(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = sentence_trace()
    record = trace.records()[0]
    assert isinstance(record, Record)
    assert edit_answers.tokens_per_step(trace) == edit_answers.AT_ONCE
    weights = 12 * trace.layers * (record.heads * record.query.shape[2]) ** 2
    monkeypatch.setattr(edit_answers, "STEP_WORK", 5 * weights)
    assert edit_answers.tokens_per_step(trace) == 5
