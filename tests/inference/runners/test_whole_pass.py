"""Whole passes of the embedded models, with each of their heads, through the backend."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attention.record import Record
from inference import LocalBackend, TraceRequest, UserError
from inference.anatomy.program import header
from inference.files.embedded import TRANSLATOR
from inference.runners import whole_pass
from inference.settings import Settings
from inference.task_heads import BARE, CLASSIFY, MASKED, NEXT_SENTENCE
from inference.tasks.predictions import MaskedWords, NextSentence
from inference.tasks.whole_pass import (
    ChangeRequest,
    LayerQuestion,
    OneNumber,
    Origin,
    PassOverview,
    StageNumbers,
    WholePass,
)
from tests.support.present import present
from tests.support.repository import ROOT
from tests.support.tinymodels import wordpiece

BERT, MINI = "headlight-bert", "all-MiniLM-L6-v2"
TEXT, PAIR = "The cat [MASK] on the mat.", "It was tired."


@pytest.fixture(scope="module")
def backend() -> LocalBackend:
    return LocalBackend()


def asked(kind: Any, **more: Any) -> Any:
    return kind(**{"model": BERT, "text": TEXT, "head": MASKED, **more})


def holds(found: PassOverview) -> None:
    """Assert that every stage of the model agrees with its recomputation by NumPy.

    PyTorch sums the 30,522 exponentials of the vocabulary in float32. On AMD processors its own softmax is off by
    2.4e-5 of float64's, NumPy's by 2e-7.
    """
    assert not found.unsupported_stages
    for stage in found.stages:
        limit = 3e-5 if stage.part == "probabilities" else 2e-5
        assert stage.away <= limit * max(stage.size, 1e-9), stage


def at(backend: LocalBackend, stage: int, **more: Any) -> Any:
    return backend.inspect(asked(StageNumbers, stages=(stage,), **more)).by_stage[stage]


@pytest.mark.slow
def test_masked_words_from_ids_to_probabilities(backend: LocalBackend) -> None:
    found = backend.inspect(asked(WholePass))
    holds(found)
    assert found.stages[-1].part == "probabilities"
    chances = at(backend, found.stages[-1].number)
    assert chances.shape[:2] == (1, len(found.ids))
    assert not chances.flags.writeable
    blank = backend.predict(MaskedWords(model=BERT, text=TEXT)).blanks[0]
    best = blank.guesses[0]
    assert int(chances[0, blank.position].argmax()) == best.token
    assert chances[0, blank.position].max() == pytest.approx(best.probability, abs=1e-6)


@pytest.mark.slow
def test_the_next_sentence(backend: LocalBackend) -> None:
    more = {"head": NEXT_SENTENCE, "pair": PAIR, "text": "The cat sat on the mat."}
    found = backend.inspect(asked(WholePass, **more))
    holds(found)
    assert [stage.part for stage in found.stages if stage.layer is None][-4:-1] == ["pooler", "pooler", "head"]
    judged = backend.predict(NextSentence(model=BERT, text="The cat sat on the mat.", pair=PAIR))
    numbers = backend.inspect(asked(StageNumbers, stages=(found.stages[-1].number,), **more))
    assert numbers.by_stage[found.stages[-1].number][0, 0] == pytest.approx(judged.probability, abs=1e-6)
    assert numbers.pieces[0] == "the second follows"


@pytest.mark.slow
def test_a_translator_s_two_sides(backend: LocalBackend) -> None:
    text = "The black cat sleeps."
    written = present(backend.trace(TraceRequest(model=TRANSLATOR, text=text)).target).ids
    more = {"model": TRANSLATOR, "text": text, "head": BARE, "target": written}
    found = backend.inspect(asked(WholePass, **more))
    holds(found)
    assert {stage.side for stage in found.stages} == {"encoder", "decoder"}
    chances = at(backend, found.stages[-1].number, **more)
    likeliest = chances[0].argmax(-1)
    assert np.mean(likeliest[: len(written) - 1] == np.array(written[1:])) >= 0.5, "it goes on as it wrote"


def test_the_classes_that_a_model_was_taught(tmp_path: Path) -> None:
    import transformers as t

    wordpiece(tmp_path / "taught")
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20}
    named = {"id2label": {0: "<b>", 1: "cat", 2: "dog"}, "label2id": {"<b>": 0, "cat": 1, "dog": 2}}
    model = t.BertForSequenceClassification(t.BertConfig(vocab_size=120, max_position_embeddings=40, **sizes, **named))
    model.save_pretrained(tmp_path / "taught")
    backend = LocalBackend(Settings(model_folders=(tmp_path,)))
    more = {"model": str(tmp_path / "taught"), "text": "the cat sat", "head": CLASSIFY}
    found = backend.inspect(asked(WholePass, **more))
    holds(found)
    assert found.stages[-1].shape == (1, 3)
    numbers = backend.inspect(asked(StageNumbers, stages=(found.stages[-1].number,), **more))
    assert numbers.pieces == {0: "<b>", 1: "cat", 2: "dog"}
    ends = backend.inspect(asked(ChangeRequest, stage=found.stages[3].number, **more)).ends
    assert sorted(end.name for end in ends) == ["<b>", "cat", "dog"]


PROGRAMS: dict[str, dict[str, Any]] = {  # Requests for all embedded models.
    MINI: {"model": MINI, "head": BARE},
    TRANSLATOR: {"model": TRANSLATOR, "head": BARE, "text": "The cat.", "target": (2, 5, 9)},
    BERT: {"head": MASKED},
}


@pytest.mark.slow
@pytest.mark.parametrize("model", PROGRAMS)
def test_the_saved_program_gives_what_is_on_screen(backend: LocalBackend, model: str) -> None:
    """The program reproduces the last stage and a stage in the middle."""
    more = PROGRAMS[model]
    found = backend.inspect(asked(WholePass, **more))
    names = ran(found.program)
    np.testing.assert_allclose(names[found.last].numpy(), at(backend, found.stages[-1].number, **more), atol=1e-6)
    middle = found.stages[len(found.stages) // 2].number
    np.testing.assert_allclose(names[f"v{middle}"].numpy(), at(backend, middle, **more), atol=1e-5)


@pytest.mark.slow
def test_the_saved_programs_run_in_a_process_of_their_own(backend: LocalBackend, tmp_path: Path) -> None:
    """The programs run in the root of the repository and import everything that they need."""
    lines = []
    for model, more in PROGRAMS.items():
        found = backend.inspect(asked(WholePass, **more))
        lines.append(f"{found.program}\nimport numpy; numpy.save({str(tmp_path / model)!r}, {found.last}.numpy())\n")
    run = subprocess.run(
        [sys.executable, "-"], input="\n".join(lines), text=True, cwd=ROOT, capture_output=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    for model, more in PROGRAMS.items():
        last = backend.inspect(asked(WholePass, **more)).stages[-1].number
        np.testing.assert_allclose(np.load(tmp_path / f"{model}.npy"), at(backend, last, **more), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "revision", "line"),
    [
        ("google/bert", "abc123", "BertModel.from_pretrained('google/bert', revision='abc123', dtype=torch.float32)"),
        ("/models/mine", None, "folder = 'path/to/the/model'  # write here where the files of '<b>\\n' lie"),
        ("taught/abc", None, "folder = 'path/to/the/model'  # write here where the files of '<b>\\n' lie"),
    ],
)
def test_the_files_of_other_models(backend: LocalBackend, name: str, revision: str | None, line: str) -> None:
    """The program contains no local path and no id of a fine-tuned model; a title cannot leave its comment."""
    loaded = backend.loaded(MINI, None)
    title = name if revision else "<b>\n"
    found = header(replace(loaded, id=replace(loaded.id, name=title, revision=revision)), name, {})
    assert line in found
    assert revision or name not in found
    compile(found, "whole_pass.py", "exec")


@pytest.mark.parametrize(("name", "files"), [("google/bert", "'google/bert', revision='abc'"), ("/m/x", "folder")])
def test_a_packed_file_is_named_and_how_it_is_opened(backend: LocalBackend, name: str, files: str) -> None:
    loaded = backend.loaded(MINI, None)
    revision = "abc" if name.startswith("google") else None
    packed = replace(loaded, id=replace(loaded.id, name="google/bert", revision=revision), gguf="bert.Q4_1.gguf")
    found = header(packed, name, {})
    assert f"from_pretrained({files}, gguf_file='bert.Q4_1.gguf', dtype=torch.float32)" in found
    assert "# The weights are packed in a GGUF file; to unpack it: pip install gguf accelerate" in found
    compile(found, "whole_pass.py", "exec")


def ran(program: str) -> dict[str, Any]:
    """Run a program and return its variables."""
    names: dict[str, Any] = {}
    enabled = torch.is_grad_enabled()
    try:
        exec(program, names)
    finally:
        torch.set_grad_enabled(enabled)
    return names


def test_a_number_opens_down_to_the_weights_of_the_file(backend: LocalBackend) -> None:
    """Origins of values on a real model; tests/inference/anatomy/test_numpy_pass.py checks tiny models."""
    found = backend.inspect(asked(WholePass))
    by_number = {stage.number: stage for stage in found.stages}
    token = next(stage for stage in found.stages if stage.role == "token embeddings")
    opened = backend.inspect(asked(OneNumber, stage=token.number, place=(0, 2, 5)))
    [[origin]] = [term.origins for term in opened.terms]
    assert (origin.weight, origin.place) == ("bert.embeddings.word_embeddings.weight", (found.ids[2], 5))
    chance = backend.inspect(asked(OneNumber, stage=found.stages[-1].number, place=(0, 3, 17)))
    score = present(chance.terms[0].origins[0].stage)
    logit = backend.inspect(asked(OneNumber, stage=score, place=chance.terms[0].origins[0].place))
    assert by_number[score].part == "head"
    assert logit.value == pytest.approx(chance.terms[0].origins[0].value)
    rows = [one.place for term in logit.terms for one in term.origins if one.weight == origin.weight]
    assert {row for row, _ in rows} == {17}, "the token embeddings, a second time"


def test_terms_are_the_largest_first_and_the_rest_is_one(backend: LocalBackend) -> None:
    found = backend.inspect(asked(WholePass))
    hidden = next(stage for stage in found.stages if stage.role == "hidden")
    few = backend.inspect(asked(OneNumber, stage=hidden.number, place=(0, 2, 5), top=3))
    many = backend.inspect(asked(OneNumber, stage=hidden.number, place=(0, 2, 5), top=10_000))
    assert (len(few.terms), few.left, many.left, many.rest) == (3, len(many.terms) - 3, 0, 0)
    sizes = [abs(term.value) for term in many.terms]
    assert sizes == sorted(sizes, reverse=True)
    assert few.terms == many.terms[:3]
    assert few.rest == pytest.approx(sum(term.value for term in many.terms[3:]))


@pytest.mark.slow
def test_what_step_by_step_opens_is_the_same_attention(backend: LocalBackend) -> None:
    more = {"model": MINI, "text": "The cat sat.", "head": BARE}
    found = backend.inspect(asked(WholePass, **more))
    layer = backend.inspect(LayerQuestion(model=MINI, text="The cat sat.", layer=2))
    closing = next(stage for stage in found.stages if stage.layer == 2 and stage.part == "norm")
    np.testing.assert_allclose(at(backend, closing.number, **more)[0], layer.output, atol=1e-6)
    record = backend.trace(TraceRequest(model=MINI, text="The cat sat.")).records()[2]
    assert isinstance(record, Record)
    weighed = next(s for s in found.stages if s.layer == 2 and s.role == "weighted values")
    opened = backend.inspect(asked(OneNumber, stage=weighed.number, place=(0, 4, 1, 7), **more))
    by_key = {one.name: one.value for term in opened.terms for one in term.origins if isinstance(one, Origin)}
    shares = record.weights(4, np.array([1]))[0]
    assert by_key["weight of key 0"] == pytest.approx(float(shares[0]), abs=1e-6)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (StageNumbers(stages=(9999,), text="A cat."), "Stage 9999 was asked"),
        (OneNumber(stage=9999, text="A cat."), "Stage 9999 was asked"),
        (WholePass(model=TRANSLATOR, text="A cat."), "a second text"),
        (WholePass(text="A cat.", head=MASKED), "no masked-word head"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(backend: LocalBackend, question: Any, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        backend.inspect(question)


def test_a_long_text_is_refused_with_its_length(backend: LocalBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_pass, "LONGEST", 3)
    with pytest.raises(UserError, match=r"has 5 tokens; .* 3"):
        backend.inspect(WholePass(text="A cat."))


def test_a_place_that_there_is_not_is_refused_with_the_shape(backend: LocalBackend) -> None:
    first = backend.inspect(asked(WholePass)).stages[0]
    with pytest.raises(UserError, match=r"\[0, 99, 0\] .* 1 × 9 × [0-9]"):
        backend.inspect(asked(OneNumber, stage=first.number, place=(0, 99, 0)))
