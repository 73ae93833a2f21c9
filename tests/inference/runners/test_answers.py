"""Answers in passages against transformers' own classes, for every family; their attribution and their ablation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from attention.edits import Ablate
from inference import LocalBackend, UserError
from inference.catalogue.listing import catalogue
from inference.settings import Settings
from inference.task_heads import ANSWER, CLASSIFY, WHAT
from inference.tasks.answers import BOTH, END, START, AnswerSpans, PassageAnswers, SpanGradients, SpanPath
from inference.tasks.edit_effects import SpanEffects
from tests.support import tinyheads
from tests.support.cases import loop_over
from tests.support.tinylabels import save
from tests.support.tinymodels import save as save_bare

QUESTION, PASSAGE = "who played", "the animal was a cat and it played"
FAMILIES = [
    name
    for name, kind in tinyheads.EVERY.items()
    if name in tinyheads.KINDS
    and hasattr(transformers, kind.classes[0].removesuffix("ForMaskedLM") + "ForQuestionAnswering")
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("answers")


@pytest.fixture(scope="module")
def backend(root: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(root,), offline=True, cache=root / "cache"))


def folder_of(root: Path, name: str = "BERT", **changes: Any) -> str:
    folder = root / f"{name} {len(changes)}"
    return str(folder if folder.exists() else save(folder, name, ANSWER, ("start", "end"), **changes))


def plain(folder: str) -> tuple[Any, Any]:
    """Return the logits of transformers' own class for both texts, each (token,)."""
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        output = model(**tokenizer(QUESTION, PASSAGE, return_tensors="pt"))
    return output.start_logits[0].numpy(), output.end_logits[0].numpy()


def ask(backend: LocalBackend, folder: str, **more: Any) -> PassageAnswers:
    return backend.predict(AnswerSpans(folder, **{"text": QUESTION, "pair": PASSAGE, **more}))


@pytest.mark.slow
@loop_over("name", FAMILIES)
def test_logits_are_those_of_the_library_s_class(backend: LocalBackend, root: Path, name: str) -> None:
    folder = folder_of(root, name)
    found = ask(backend, folder)
    [window] = found.windows
    start, end = plain(folder)
    np.testing.assert_allclose(window.start, start, atol=1e-5)
    np.testing.assert_allclose(window.end, end, atol=1e-5)
    best = found.spans[0]
    assert best.text == PASSAGE[slice(*best.letters)] == best.text.strip()
    assert best.score == pytest.approx(float(start[best.first] + end[best.last]), abs=1e-4)
    assert window.row.segments[best.first] == window.row.segments[best.last] == 1


def test_probabilities_of_all_spans_add_up_to_one(backend: LocalBackend, root: Path) -> None:
    found = ask(backend, folder_of(root), top=100)
    assert found.no_answer is not None
    assert sum(span.probability for span in found.spans) + found.no_answer == pytest.approx(1, abs=1e-6)
    sure = ask(backend, folder_of(root, no_answer=False), top=100)
    assert sure.no_answer is None
    assert not sure.says_no_answer
    assert sum(span.probability for span in sure.spans) == pytest.approx(1, abs=1e-6)


def test_windows_cover_a_long_passage(backend: LocalBackend, root: Path) -> None:
    passage = " ".join([PASSAGE] * 6)
    found = ask(backend, folder_of(root), pair=passage, length=24, stride=4)
    assert len(found.windows) > 3
    assert found.windows[0].letters[0] == 0
    assert found.windows[-1].letters[1] == len(passage)
    for left, right in zip(found.windows, found.windows[1:], strict=False):
        assert left.letters[0] < right.letters[0] <= left.letters[1]
    best = found.spans[0]
    window = found.windows[best.window]
    assert window.letters[0] <= best.letters[0] < best.letters[1] <= window.letters[1]
    assert max(len(window.row) for window in found.windows) <= 24


def test_letters_of_chinese_are_offsets(backend: LocalBackend, root: Path) -> None:
    found = ask(backend, folder_of(root), pair="a b 中 文 c")
    assert all(span.text == "a b 中 文 c"[slice(*span.letters)] for span in found.spans)


@pytest.mark.parametrize("ends", [BOTH, START, END])
def test_integrated_gradients_add_up_to_the_rise(backend: LocalBackend, root: Path, ends: str) -> None:
    span = ask(backend, folder_of(root)).spans[0]
    given: dict[str, Any] = {"text": QUESTION, "pair": PASSAGE, "first": span.first, "last": span.last, "ends": ends}
    path = backend.predict(SpanPath(folder_of(root), **given, steps=64))
    assert path.values.sum() == pytest.approx(path.rise + path.missed, abs=1e-3)
    assert (backend.predict(SpanGradients(folder_of(root), **given)).values > 0).all()


def test_effects_of_ablation_are_those_of_single_passes(backend: LocalBackend, root: Path) -> None:
    folder = folder_of(root)
    span = ask(backend, folder).spans[0]
    sets = ((), (Ablate(0, 1),), (Ablate(1, 2), Ablate(0, 0)))
    asked = SpanEffects(folder, text=QUESTION, pair=PASSAGE, first=span.first, last=span.last, edits=sets)
    values = backend.predict(asked).values
    alone = [backend.predict(replace(asked, edits=(mine,))).values[0] for mine in sets]
    np.testing.assert_allclose(values, alone, atol=1e-5)
    assert values[0].sum() == pytest.approx(span.score, abs=1e-4)
    assert np.abs(values[1:] - values[0]).max() > 1e-3


@pytest.mark.parametrize("more", [{"text": " "}, {"pair": ""}, {"length": 3}, {"top": 0}, {"pair": "a " * 50_000}])
def test_odd_requests_are_refused(backend: LocalBackend, root: Path, more: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        ask(backend, folder_of(root), **more)


@pytest.mark.parametrize("tokens", [{"first": 99, "last": 99}, {"first": 3, "last": 2}, {"first": -1}, {"ends": "x"}])
def test_odd_tokens_are_refused(backend: LocalBackend, root: Path, tokens: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        backend.predict(SpanGradients(folder_of(root), text=QUESTION, pair=PASSAGE, **tokens))


def test_models_without_the_head_are_refused(backend: LocalBackend, root: Path) -> None:
    for folder in (save_bare(root / "bare", "bert"), save(root / "classes", "BERT", CLASSIFY)):
        with pytest.raises(UserError, match=WHAT[ANSWER]) as refusal:
            ask(backend, str(folder))
        assert refusal.value.way_out == "head"


def test_cards_list_the_head(root: Path) -> None:
    folder = folder_of(root)
    cards = {card.id: card for card in catalogue(Settings(model_folders=(root,), offline=True))}
    assert ANSWER in cards[folder].heads
