"""Tests of the traces and answers stored with the app: equal to new ones, and read only for the same weights."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inference.backend import LocalBackend
from inference.files import embedded
from inference.request import TraceRequest
from inference.settings import Settings
from inference.tasks.predictions import NextSentence
from serving.model_process import SubprocessBackend
from serving.stored_answers import StoredAnswers, weights_hash
from tests.support.cases import loop_over
from tests.support.closeness import assert_close
from tests.support.repository import ROOT
from tools.stored_answers import WITHOUT_WRITER

BERT = "headlight-bert"
STORED = [found for found in StoredAnswers().contents() if found[0].model in embedded.OWN]
QUESTION = NextSentence(model=BERT, text="It rained.", pair="We stayed at home.")


@pytest.fixture(scope="module")
def backend() -> LocalBackend:
    """Return a backend that uses no stored answers."""
    return LocalBackend(Settings())


def answer_to(backend: LocalBackend, question: Any) -> Any:
    return backend.computed([question])[0] if isinstance(question, TraceRequest) else backend.made(question)


@pytest.mark.slow
@loop_over("at", range(len(STORED)), ids=[type(question).__name__ for question, _sum, _ in STORED])
def test_a_stored_answer_equals_the_computed_one(at: int, backend: LocalBackend) -> None:
    question, _sum, answer = STORED[at]
    assert_close(answer, answer_to(backend, question))


def test_every_stored_answer_is_used_by_the_backend_of_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("made", "computed"):
        monkeypatch.setattr(LocalBackend, name, lambda *_: pytest.fail("computed"))
    app = SubprocessBackend(Settings())
    assert len(STORED) >= 10
    for question, _sum, answer in STORED:
        assert_close(answer, answer_to(app, question))
    app.made(WITHOUT_WRITER)  # a machine with a decoder never makes this request


def test_traces_that_are_not_stored_are_computed_in_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = next(question for question, _sum, _ in STORED if isinstance(question, TraceRequest))
    new = [dataclasses.replace(stored, text=text) for text in ("It rained.", "It snowed.")]
    monkeypatch.setattr(LocalBackend, "computed", lambda _backend, requests: [request.text for request in requests])
    found: list[Any] = SubprocessBackend(Settings()).computed([new[0], stored, new[1]])
    assert (found[0], found[1].text, found[2]) == ("It rained.", stored.text, "It snowed.")


def test_a_model_that_is_not_loaded_is_identified_by_its_weights() -> None:
    assert SubprocessBackend(Settings()).identity(BERT).weights == weights_hash(BERT, Settings())


def test_the_first_example_is_traced_without_torch() -> None:
    code = """
import sys
from ui.run.services import get_backend
from ui.state.view_state import DEFAULT_MODEL, EXAMPLES
from inference import TraceRequest
assert get_backend().trace(TraceRequest(DEFAULT_MODEL, EXAMPLES[0]["text"])).layers
print("torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


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
