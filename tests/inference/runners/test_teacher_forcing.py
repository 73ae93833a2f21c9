"""Teacher forcing of a translation under many sets of edits, equal to separate passes and to decoding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attention.edits import Ablate, MaskEdge, Uniform
from inference import LocalBackend, UserError
from inference.runners import decoding
from inference.settings import Settings
from inference.tasks.decoding import ForcedTarget, NextTarget
from tests.support.cases import loop_over
from tests.support.tinymodels import byte_level, save
from tests.support.writers import TRANSLATORS, build, save_padded, save_separate, source, whole

TEXT = "The cat sat on the mat."
SETS = (
    (),
    (Ablate(2, 1, "cross"),),
    (Ablate(0, 2, "encoder"), Uniform(1, 0, "decoder")),
    (MaskEdge(1, 0, 2, 3, "cross"), MaskEdge(1, 1, 2, 3, "cross")),
    tuple(Ablate(2, head, "cross") for head in range(3)),
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("forced")
    for kind in ("marian", "t5"):
        save(root / kind, kind)
        from transformers import AutoModelForSeq2SeqLM

        with torch.random.fork_rng():
            torch.manual_seed(1)
            model = AutoModelForSeq2SeqLM.from_pretrained(root / kind)
            for parameter in model.parameters():
                parameter.data.add_(torch.randn(parameter.shape) * 0.2)  # Noise makes the answers differ.
            model.save_pretrained(root / kind)
    return root


@pytest.fixture(scope="module")
def backend(root: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(root,)))


@pytest.mark.parametrize("kind", ["marian", "t5"])
def test_it_is_what_the_steps_say_one_by_one(root: Path, backend: LocalBackend, kind: str) -> None:
    written = (5, 9, 5, 12, 7)
    asked = ForcedTarget(str(root / kind), text=TEXT, written=written)
    found = backend.predict(asked)
    assert found.logs.shape == found.likeliest.shape == (1, 5)
    for at, token in enumerate(written):
        step = backend.predict(NextTarget(str(root / kind), text=TEXT, written=written[:at], also=(token,), top=1))
        mine = next(candidate for candidate in step.candidates if candidate.token == token)
        assert np.exp(found.logs[0, at]) == pytest.approx(mine.probability, rel=1e-3)
        assert found.likeliest[0, at] == step.candidates[0].token


@pytest.mark.parametrize("most", [1, 30, 4096])
def test_results_do_not_depend_on_what_shares_a_batch(
    root: Path, backend: LocalBackend, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    asked = ForcedTarget(model=str(root / "marian"), text=TEXT, written=(5, 9, 5, 12), edits=SETS)
    expected = [backend.predict(replace(asked, edits=(mine,))).logs[0] for mine in SETS]
    monkeypatch.setattr(decoding, "MOST_TOKENS", most)
    found = decoding.force_target(backend.loaded(asked.model, None), asked)
    np.testing.assert_allclose(found.logs, expected, atol=1e-5)
    assert len(np.unique(found.logs.round(4), axis=0)) == len(SETS), "every set changes something"
    assert found.likeliest.dtype == np.int32
    assert not found.logs.flags.writeable
    assert not found.likeliest.flags.writeable


def test_what_was_before_a_cut_step_stays(root: Path, backend: LocalBackend) -> None:
    edits = ((), (MaskEdge(1, 0, 2, 3, "cross"),))
    asked = ForcedTarget(model=str(root / "marian"), text=TEXT, written=(5, 9, 5, 12), edits=edits)
    plain, cut = backend.predict(asked).logs
    np.testing.assert_allclose(plain[:2], cut[:2], atol=1e-6)
    assert abs(plain[2] - cut[2]) > 1e-6


@loop_over(
    ("changes", "said"),
    [
        ({"written": ()}, "The translation is empty"),
        ({"edits": ((Ablate(3, 0, "cross"),),)}, "no head 3-0"),
        ({"edits": ((MaskEdge(0, 0, 2, 99, "cross"),),)}, "no token 99"),
        ({"edits": ((),) * 3000}, r"3000 .* 2048\b"),
        ({"edits": ()}, "Got 0 sets of edits; expected 1 to"),
        ({"text": " "}, "The text is empty"),
        ({"written": (5, 10**6)}, "no token 1000000"),
        ({"written": (5,) * 80}, r"81 tokens.* 64\b"),
        ({"model": "all-MiniLM-L6-v2"}, "all-MiniLM-L6-v2 .*headlight-en-fr"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(
    root: Path, backend: LocalBackend, changes: Any, said: str
) -> None:
    asked = {"model": str(root / "marian"), "text": TEXT, "written": (5, 9, 5), **changes}
    with pytest.raises(UserError, match=said):
        backend.predict(ForcedTarget(**asked))


def test_a_model_with_finished_maps_only_answers_but_changes_nothing(tmp_path: Path) -> None:
    byte_level(tmp_path / "led", roberta=True)
    row = next(row for row in TRANSLATORS if row.name == "LED")
    build(replace(row, config={**row.config, "vocab_size": 350})).save_pretrained(tmp_path / "led")
    backend = LocalBackend(Settings(model_folders=(tmp_path,)))
    asked = ForcedTarget(str(tmp_path / "led"), text=TEXT, written=(9, 5, 7))
    step = backend.predict(NextTarget(asked.model, text=TEXT, written=(9, 5), also=(7,)))
    mine = next(candidate for candidate in step.candidates if candidate.token == 7)
    assert np.exp(backend.predict(asked).logs[0, 2]) == pytest.approx(mine.probability, rel=1e-3)
    with pytest.raises(UserError, match="own code"):
        backend.predict(replace(asked, edits=((Ablate(0, 0, "cross"),),)))


@pytest.mark.slow
@pytest.mark.parametrize(("save_model", "token", "piece"), [(save_padded, 94, "[94]"), (save_separate, -1, "new29")])
def test_tokens_beyond_the_sources_vocabulary_are_read_and_shown(
    tmp_path: Path, save_model: Any, token: int, piece: str
) -> None:
    folder = save_model(tmp_path / "marian")
    backend = LocalBackend(Settings(model_folders=(tmp_path,), offline=True))
    rows = backend.loaded(str(folder), None).reader.target_vocabulary
    found = backend.predict(ForcedTarget(str(folder), text=TEXT, written=(5, token % rows, 5)))
    assert found.likeliest.tolist() == [[token % rows] * 3]
    assert found.pieces == ((piece,) * 3,)


@loop_over("row", TRANSLATORS, ids=lambda row: row.name)
def test_every_architecture_is_read_as_it_reads_itself(row: Any) -> None:
    model, tokens, written = build(row), source(), (9, 5, 7, 5)
    inputs = whole(model, tokens, written)
    read = inputs["decoder_input_ids"][0].tolist()
    sets = ((), (Ablate(0, 1, "cross"),)) if hasattr(model, "_headlight_heads") else ((),)
    found = torch.cat(list(decoding.step_log_probabilities(model, tokens, read, sets, 100)))
    with torch.inference_mode():
        expected = model(**inputs).logits.float().log_softmax(-1)
    np.testing.assert_allclose(found[0], expected[0], atol=2e-4)
    assert len(sets) == 1 or (found[1] - found[0]).abs().max() > 1e-5
