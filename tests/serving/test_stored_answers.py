"""Tests of the answers stored with the app: equal to newly computed answers, and read only for the same weights."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inference.backend import LocalBackend
from inference.settings import Settings
from inference.tasks.predictions import NextSentence
from serving.model_process import SubprocessBackend
from serving.stored_answers import StoredAnswers, weights_hash

BERT = "headlight-bert"
STORED = StoredAnswers().contents()
QUESTION = NextSentence(model=BERT, text="It rained.", pair="We stayed at home.")
TIED = 0.001  # share of whole numbers, such as positions of largest weights, that rounding may change


def assert_close(one: Any, two: Any) -> None:
    """Assert that two answers are equal up to rounding."""
    assert type(one) is type(two)
    if dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            assert_close(getattr(one, field.name), getattr(two, field.name))
    elif isinstance(one, tuple | list):
        assert len(one) == len(two)
        for left, right in zip(one, two, strict=True):
            assert_close(left, right)
    elif isinstance(one, dict):
        assert one.keys() == two.keys()
        assert_close(list(one.values()), list(two.values()))
    elif isinstance(one, np.ndarray) and one.dtype.kind in "iub":
        assert one.shape == two.shape
        assert np.mean(one != two) <= TIED
    elif isinstance(one, np.ndarray | float):
        np.testing.assert_allclose(one, two, rtol=1e-3, atol=2e-4)
    else:
        assert one == two


@pytest.mark.slow
@pytest.mark.parametrize("at", range(len(STORED)), ids=[type(question).__name__ for question, _sum, _ in STORED])
def test_a_stored_answer_equals_the_computed_one(at: int) -> None:
    question, _sum, answer = STORED[at]
    assert_close(answer, LocalBackend(Settings()).made(question))


def test_every_stored_answer_is_used_by_the_backend_of_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalBackend, "made", lambda *_: pytest.fail("computed"))
    backend = SubprocessBackend(Settings())
    assert len(STORED) >= 10
    for question, _sum, answer in STORED:
        assert_close(answer, backend.made(question))


def test_what_is_written_is_found_again_for_this_request_only(tmp_path: Path) -> None:
    stored = StoredAnswers(tmp_path)
    stored.write(QUESTION, ("an answer", np.arange(3.0)), Settings())
    found: Any = stored.find(QUESTION, Settings())
    assert_close(found, ("an answer", np.arange(3.0)))
    assert stored.find(dataclasses.replace(QUESTION, text="It snowed."), Settings()) is None
    assert stored.find(dataclasses.replace(QUESTION, revision="other"), Settings()) is None


def test_an_answer_of_other_weights_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = StoredAnswers(tmp_path)
    with monkeypatch.context() as other:
        other.setattr("serving.stored_answers.weights_hash", lambda *_: "0" * 64)
        stored.write(QUESTION, "an answer", Settings())
    assert stored.find(QUESTION, Settings()) is None
    assert len(weights_hash(BERT, Settings())) == 64


@pytest.mark.parametrize("content", [b"", b"rubbish", b"\x00" * 100])
def test_a_damaged_file_is_computed_again(tmp_path: Path, content: bytes) -> None:
    stored = StoredAnswers(tmp_path)
    file = stored.write(QUESTION, "an answer", Settings())
    file.write_bytes(content)
    assert stored.find(QUESTION, Settings()) is None
