"""Passes that continue from changed values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attention.edits import Ablate, Pairs, PatchHead, PatchResidual
from inference import LocalBackend, UserError
from inference.task_heads import MASKED, NEXT_SENTENCE
from inference.tasks.edit_effects import BlankEffects
from inference.tasks.predictions import MaskedWords
from inference.tasks.whole_pass import ChangeRequest, Stage, WholePass

BERT, TEXT, OTHER = "headlight-bert", "The cat [MASK] on the mat.", "The dog [MASK] in the car."
BLANK = 3
SAME: Pairs = tuple((at, at) for at in range(9))  # Each token is paired with its own position.
LONGER = "The old dog [MASK] in the car."
BESIDE: Pairs = ((1, 1), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7))  # Pairs of positions in TEXT and LONGER.


@pytest.fixture(scope="module")
def backend() -> LocalBackend:
    return LocalBackend()


@pytest.fixture(scope="module")
def stages(backend: LocalBackend) -> tuple[Stage, ...]:
    return backend.inspect(WholePass(model=BERT, text=TEXT, head=MASKED)).stages


def changed(backend: LocalBackend, stage: Stage, **more: Any) -> Any:
    asked = {"model": BERT, "text": TEXT, "head": MASKED, "at": BLANK, "stage": stage.number, **more}
    return backend.inspect(ChangeRequest(**asked))


@pytest.mark.slow
def test_one_that_takes_from_itself_changes_nothing(backend: LocalBackend, stages: Any) -> None:
    for stage in stages[::9]:
        found = changed(backend, stage, lender=TEXT, pairs=SAME)
        assert (found.changed, found.moved) == (0, 0)
        assert all(end.before == end.after for end in found.ends)


@pytest.mark.slow
def test_one_that_takes_all_gives_the_other_text_s_answer(backend: LocalBackend, stages: Any) -> None:
    """Later layers depend only on the residual stream after a layer."""
    whole = [stage for stage in stages if stage.layer == 2][-1]
    found = changed(backend, whole, lender=OTHER, pairs=SAME)
    best = backend.predict(MaskedWords(model=BERT, text=OTHER)).blanks[0].guesses[0]
    after = {end.name: end.after for end in found.ends}
    assert after[best.piece] == pytest.approx(best.probability, abs=1e-6)
    mine = backend.predict(MaskedWords(model=BERT, text=TEXT)).blanks[0].guesses[0]
    assert (found.ends[0].name, found.ends[0].before) == (mine.piece, pytest.approx(mine.probability, abs=1e-6))


@pytest.mark.parametrize(
    ("edits", "lender"),
    [
        ((Ablate(4, 2),), ""),
        ((PatchHead(4, 2, SAME),), OTHER),
        ((PatchHead(3, 7, BESIDE),), LONGER),
        ((PatchResidual(3, ((2, 3),)),), LONGER),
        ((PatchResidual(2, BESIDE), Ablate(5, 0)), LONGER),
    ],
    ids=["a head gone", "a head taken", "of a longer text", "a vector taken", "several"],
)
def test_the_answer_is_what_the_comparison_of_two_texts_says(backend: LocalBackend, edits: Any, lender: str) -> None:
    found = backend.inspect(ChangeRequest(model=BERT, text=TEXT, head=MASKED, at=BLANK, edits=edits, lender=lender))
    ends = [end for end in found.ends if end.name.isalpha()]
    words = tuple(end.name for end in ends)
    other = BlankEffects(model=BERT, text=lender, words=words) if lender else None
    said = backend.predict(BlankEffects(model=BERT, text=TEXT, words=words, edits=((), edits), other=other))
    assert len(ends) >= 2
    for at, end in enumerate(ends):
        assert (end.before, end.after) == pytest.approx(np.exp(said.values[:, at]).tolist(), abs=1e-6)
    assert found.moved > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [((2, 3),), BESIDE], ids=["one word", "every word"])
def test_vectors_taken_at_a_stage_are_those_that_enter_the_layer(
    backend: LocalBackend, stages: Any, pairs: Any
) -> None:
    """The last stage of layer 2 is the input of layer 3, so both patches give the same result."""
    last = [stage for stage in stages if stage.layer == 2][-1]
    at_the_stage = changed(backend, last, lender=LONGER, pairs=pairs)
    into_the_layer = backend.inspect(
        ChangeRequest(model=BERT, text=TEXT, head=MASKED, at=BLANK, edits=(PatchResidual(3, pairs),), lender=LONGER)
    )
    assert at_the_stage.ends == into_the_layer.ends
    assert at_the_stage.moved == into_the_layer.moved > 1e-4


@pytest.mark.slow
def test_a_number_a_vector_and_a_part(backend: LocalBackend, stages: Any) -> None:
    width = stages[0].shape[-1]
    stage = next(
        stage for stage in stages if stage.layer == 3 and stage.part == "feed-forward" and stage.role == "output"
    )
    one = changed(backend, stage, row=2, column=5, to=7.5)
    vector = changed(backend, stage, row=2)
    part = changed(backend, stage)
    assert (one.changed, vector.changed, part.changed) == (1, width, width * stage.shape[-2])
    assert one.moved > 0
    assert vector.moved != part.moved


def test_a_decoder_s_past_does_not_follow_from_its_future(tmp_path: Any) -> None:
    """In a causal model, a change at a token does not affect earlier tokens."""
    from inference.settings import Settings
    from inference.task_heads import CAUSAL
    from tests.support.tinymodels import save

    model, backend = str(save(tmp_path / "gpt2", "gpt2")), LocalBackend(Settings(model_folders=(tmp_path,)))
    asked: dict[str, Any] = {"model": model, "text": "a small cat sat", "head": CAUSAL}
    first = next(s for s in backend.inspect(WholePass(**asked)).stages if s.layer == 0)
    ahead = backend.inspect(ChangeRequest(**asked, stage=first.number, row=3, at=2))
    behind = backend.inspect(ChangeRequest(**asked, stage=first.number, row=3, at=4))
    assert ahead.moved == 0
    assert behind.moved > 0


@pytest.mark.slow
def test_judgements_of_pairs_have_two_numbers(backend: LocalBackend) -> None:
    more: dict[str, Any] = {"model": BERT, "text": "The cat sat.", "pair": "It slept.", "head": NEXT_SENTENCE}
    stage = backend.inspect(WholePass(**more)).stages[5]
    found = backend.inspect(ChangeRequest(**more, stage=stage.number, row=1))
    assert sorted(end.name for end in found.ends) == ["the second follows", "the second is from elsewhere"]
    assert sum(end.after for end in found.ends) == pytest.approx(1)


def test_what_cannot_be_changed_is_refused(backend: LocalBackend, stages: Any) -> None:
    with pytest.raises(UserError, match=r"Row 99, number 0 .* 9 rows of 384"):
        changed(backend, stages[0], row=99)
    with pytest.raises(UserError, match="row per"):
        changed(backend, stages[0], lender="Short.", pairs=SAME)
    with pytest.raises(UserError, match=r"Token 8 .* has 4 tokens"):
        changed(backend, stages[0], lender="Short.", edits=(PatchHead(0, 0, SAME),))
    with pytest.raises(UserError, match="no head 9-0"):
        changed(backend, stages[0], edits=(Ablate(9, 0),))
    with pytest.raises(UserError, match="text came"):
        changed(backend, stages[0], edits=(PatchHead(0, 0, SAME),))
    with pytest.raises(UserError, match="Stage 9999"):
        backend.inspect(ChangeRequest(model=BERT, text=TEXT, head=MASKED, stage=9999))
