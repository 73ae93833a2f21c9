"""Beam search step by step, with the tokens and scores of transformers."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import torch

from attention.edits import Ablate, MaskEdge
from attention.trace import ModelId
from inference import LocalBackend
from inference.errors import UserError
from inference.loaded_model import LoadedModel
from inference.runners.decoding import MOST_BEAMS, step_beams
from inference.settings import Settings
from inference.tasks.decoding import Beam, NextBeams, NextTarget
from inference.text.encoding import Encoding
from inference.text.tokenizer import SafeTokenizer
from tests.support.architectures import named
from tests.support.cases import loop_over
from tests.support.tinymodels import byte_level
from tests.support.tinymodels import save as save_bare
from tests.support.writers import TRANSLATORS, build

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
TEXT = "at"
LIMIT = 11  # The largest number of tokens, including the start token.
NAMES = [row.name for row in TRANSLATORS]
SETTINGS = [
    {}, {"early_stopping": True}, {"early_stopping": "never", "length_penalty": 2.0}, {"length_penalty": -1.0},
    {"length_penalty": 0.0, "early_stopping": "never"}, {"forced_bos_token_id": 7, "forced_eos_token_id": 5},
    {"no_repeat_ngram_size": 2, "min_length": 5}, {"repetition_penalty": 1.5, "bad_words_ids": [[3]]},
]  # fmt: skip
MANY = [2, *range(4, 24)]  # With these end tokens some beams end early, at different lengths.


class SameText(SafeTokenizer):
    """A tokenizer that encodes every text as the same six tokens, all known to the tiny models."""

    def _encode(self, *_given: Any, **_named: Any) -> Encoding:
        return self.from_ids([12, 17, 22, 27, 32, 4], [False] * 6)[0]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> SafeTokenizer:
    from transformers import AutoTokenizer

    folder = tmp_path_factory.mktemp("tokenizer")
    byte_level(folder)
    return SameText(AutoTokenizer.from_pretrained(folder), "tiny", "encoder-decoder", 40)


def loaded(model: Any, reader: Any, limit: Any = LIMIT) -> LoadedModel:
    return LoadedModel(model, reader, ModelId("tiny", None, "encoder-decoder", "Tiny"), limit, 0, True, True)


def searched(ready: Any, width: int, **more: Any) -> Any:
    """Return all steps of a beam search."""
    steps: list[Any] = []
    beams: tuple[Any, ...] = ()
    finished: tuple[Any, ...] = ()
    while not steps or not steps[-1].done:
        steps.append(step_beams(ready, NextBeams(text=TEXT, width=width, beams=beams, finished=finished, **more)))
        beams, finished = steps[-1].beams, steps[-1].finished
    return steps


def expected(model: Any, width: int) -> Any:
    """Return the token lists (without start token) and scores that transformers finds, best first."""
    ids = torch.tensor([[12, 17, 22, 27, 32, 4]])
    found = model.generate(
        input_ids=ids, attention_mask=torch.ones_like(ids), num_beams=width, do_sample=False, max_length=LIMIT,
        num_return_sequences=width, output_scores=True, return_dict_in_generate=True,
    )  # fmt: skip
    return found.sequences[:, 1:].tolist(), found.sequences_scores.tolist()


def check(model: Any, reader: Any, width: int) -> Any:
    steps = searched(loaded(model, reader), width)
    sequences, scores = expected(model, width)
    finished = steps[-1].finished
    assert finished
    for beam, tokens, score in zip(finished, sequences, scores, strict=False):
        assert list(beam.tokens) == tokens[: len(beam.tokens)]
        assert len(set(tokens[len(beam.tokens) :])) <= 1  # Only padding follows.
        assert beam.score == pytest.approx(score, abs=1e-4)
    return steps


@pytest.mark.slow
@loop_over(("row", "width"), zip(TRANSLATORS, cycle([2, 4]), strict=False), ids=NAMES)
def test_the_end_is_what_generate_finds(row: Any, width: int, reader: SafeTokenizer) -> None:
    check(build(row), reader, width)
    check(build(row, eos_token_id=MANY), reader, width)


@pytest.mark.slow
@loop_over(("name", "settings"), zip(cycle(["Marian", "Pegasus", "mT5"]), SETTINGS, strict=False))
def test_the_models_own_settings_hold(name: str, settings: Any, reader: SafeTokenizer) -> None:
    for ends in (2, MANY):
        check(build(named(name), eos_token_id=ends, **settings), reader, 3)


def test_each_step_reads_the_newest_tokens_only(reader: SafeTokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    from inference.write import decoding

    seen, read = [], decoding.read

    def noting(*given: Any) -> Any:
        seen.append(read(*given))
        return seen[-1]

    monkeypatch.setattr(decoding, "read", noting)
    searched(loaded(build(named("Marian")), reader), 3)
    assert [passed.cached for passed in seen] == [False, *[True] * (len(seen) - 1)]
    assert len(seen) > 4


def test_branches_say_what_became_of_them(reader: SafeTokenizer) -> None:
    steps = searched(loaded(build(named("BART"), eos_token_id=MANY), reader), 3)
    for at, step in enumerate(steps):
        before = steps[at - 1].beams if at else (Beam(),)
        kept = [branch for branch in step.branches if branch.fate == "kept"]
        ended = [branch for branch in step.branches if branch.fate == "ended"]
        assert [(*before[branch.parent].tokens, branch.token) for branch in kept] == [b.tokens for b in step.beams]
        assert [branch.score for branch in kept] == [beam.score for beam in step.beams]
        for branch in ended:
            assert branch.token in MANY or at + 2 == LIMIT
            assert (*before[branch.parent].tokens, branch.token) in {beam.tokens for beam in step.finished}
        scores = [branch.score for branch in step.branches]
        assert scores == sorted(scores, reverse=True)
        assert len(step.branches) > len(kept)
    assert any(branch.fate == "ended" for step in steps for branch in step.branches)


def test_scores_are_sums_of_log_probabilities(reader: SafeTokenizer) -> None:
    model = build(named("Marian"))
    step = searched(loaded(model, reader), 3)[2]
    for beam in step.beams:
        ids = torch.tensor([[12, 17, 22, 27, 32, 4]])
        with torch.inference_mode():
            logits = model(input_ids=ids, decoder_input_ids=torch.tensor([[2, *beam.tokens]])).logits[0]
        logs = logits.log_softmax(-1)[torch.arange(3), list(beam.tokens)]
        assert beam.score == pytest.approx(float(logs.sum()), abs=1e-4)


def test_edits_hold_in_every_step(reader: SafeTokenizer) -> None:
    edits = (Ablate(0, 1, "cross"), MaskEdge(1, 0, 2, 1, "cross"), Ablate(1, 1, "encoder"))
    ready = loaded(build(named("Marian")), reader)
    plain, edited = searched(ready, 3), searched(ready, 3, edits=edits)
    assert [step.finished for step in plain] != [step.finished for step in edited]
    beams = edited[2].beams
    ids = torch.tensor([[12, 17, 22, 27, 32, 4]])
    from inference.record.edit_hooks import apply_edits

    total = 0.0
    for done, token in enumerate(beams[0].tokens):
        target = torch.tensor([[2, *beams[0].tokens[:done]]])
        with apply_edits(ready.model, [edits]), torch.inference_mode():
            logits = ready.model(input_ids=ids, decoder_input_ids=target).logits[0, -1]
        total += float(logits.log_softmax(-1)[token])
    assert beams[0].score == pytest.approx(total, abs=1e-4)


@loop_over(
    ("question", "sentence"),
    [
        ({"width": 0}, "0 beams were requested; expected 2 to 12"),
        ({"width": 1}, "1 beams were requested; expected 2 to 12."),
        ({"width": MOST_BEAMS + 1}, "13 beams were requested; expected"),
        ({"width": 2, "beams": (Beam((4,)), Beam((5,)), Beam((6,)))}, "3 beams of"),
        ({"beams": (Beam((4,)), Beam((5, 6)))}, r"of \[1, 2\] tokens; expected"),
        ({"beams": (Beam((2,)),)}, "nothing follows it"),
        ({"beams": (Beam((4000,)),)}, "tokens are 0 to 39"),
        ({"beams": (Beam((4,) * 20),)}, "22 tokens; .* at most 11"),
        ({"written": (4,)}, "other written tokens"),
    ],
)
def test_beams_that_no_step_could_have_left_are_refused(question: Any, sentence: str, reader: SafeTokenizer) -> None:
    with pytest.raises(UserError, match=sentence):
        step_beams(loaded(build(named("Marian")), reader), NextBeams(text=TEXT, **question))


@pytest.mark.slow
def test_pages_ask_through_the_backend(tmp_path: Path) -> None:
    folder = save_bare(tmp_path / "marian", "marian")
    backend = LocalBackend(Settings(model_folders=(tmp_path,), offline=True))
    question = NextBeams(model=str(folder), text="The cat sat.", width=3)
    step = backend.predict(question)
    assert len(step.beams) == 3
    likeliest = backend.predict(NextTarget(model=str(folder), text="The cat sat.", top=3)).candidates
    assert [beam.tokens for beam in step.beams] == [(candidate.token,) for candidate in likeliest if not candidate.ends]
    assert [branch.piece for branch in step.branches[:3]] == [candidate.piece for candidate in likeliest]
    assert all(beam.text for beam in step.beams)
    assert backend.predict(question) is step
