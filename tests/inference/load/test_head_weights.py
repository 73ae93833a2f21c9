"""Task heads: loaded from the checkpoint's weights, or refused with alternatives; never initialised randomly."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from inference import LocalBackend
from inference.catalogue.listing import catalogue
from inference.errors import UserError
from inference.settings import Settings
from inference.task_heads import CAUSAL, MASKED, NEXT_SENTENCE, WHAT
from inference.tasks.predictions import MaskedWords, NextSentence
from tests.support.tinyheads import KINDS, PAIRS, save
from tests.support.tinymodels import save as save_bare


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(model_folders=(tmp_path / "models",), offline=True, cache=tmp_path / "cache")


def asked(settings: Settings, folder: Path, head: str = MASKED) -> None:
    question: Any = MaskedWords(model=str(folder), text="A [MASK].")
    if head == NEXT_SENTENCE:
        question = NextSentence(model=str(folder), text="a", pair="b")
    LocalBackend(settings).predict(question)


def weights(folder: Path, keep: Callable[[str], bool]) -> None:
    file = folder / "model.safetensors"
    kept = {name: tensor.clone() for name, tensor in load_file(file).items() if keep(name)}
    save_file(kept, file, {"format": "pt"})


def test_the_embedded_model_has_none() -> None:
    with pytest.raises(UserError, match=rf"v2 has {WHAT[MASKED]}\..*bert-base") as caught:
        LocalBackend(Settings(offline=True)).predict(MaskedWords(text="A [MASK]."))
    assert caught.value.way_out == "head"
    assert "google-bert/bert-base-uncased" in caught.value.details["models"]


def test_what_would_do_is_named(tmp_path: Path, settings: Settings) -> None:
    bare = save_bare(tmp_path / "models" / "bare", "bert")
    save(tmp_path / "models" / "filler", "BERT")
    with pytest.raises(UserError, match=rf"bare has {WHAT[MASKED]}\. .*filler"):
        asked(settings, bare)
    with pytest.raises(UserError, match=f"bare has {WHAT[NEXT_SENTENCE]}") as caught:
        asked(settings, bare, NEXT_SENTENCE)
    assert str(tmp_path / "models" / "filler") not in caught.value.details["models"]


@pytest.mark.parametrize("name", KINDS)
def test_a_stripped_head_is_missed_before_anything_is_loaded(
    tmp_path: Path, settings: Settings, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tensors of the head are removed; those of the base model are complete."""
    from transformers import AutoConfig, AutoModelForMaskedLM

    from inference.files.checkpoint import tensors
    from inference.load.loading import missing_weights

    folder = save(tmp_path / "models" / "stripped", name)
    config = AutoConfig.from_pretrained(folder)
    file = folder / "model.safetensors"
    assert missing_weights(AutoModelForMaskedLM, config, tensors([file])) == []
    own = set(missing_weights(AutoModelForMaskedLM, config, []))
    weights(folder, lambda tensor: tensor not in own)
    monkeypatch.setattr(AutoModelForMaskedLM, "from_pretrained", None)
    with pytest.raises(UserError, match=f"stripped has {WHAT[MASKED]}"):
        asked(settings, folder)


@pytest.mark.parametrize("name", KINDS)
def test_half_a_head_is_no_head(tmp_path: Path, settings: Settings, name: str) -> None:
    from transformers import AutoConfig, AutoModelForMaskedLM

    from inference.load.loading import missing_weights

    folder = save(tmp_path / "models" / "half", name)
    own = missing_weights(AutoModelForMaskedLM, AutoConfig.from_pretrained(folder), [])
    weights(folder, lambda tensor: tensor != own[-1])
    with pytest.raises(UserError, match=f"half has {WHAT[MASKED]}"):
        asked(settings, folder)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("part", ["head", "pooler"])
def test_the_pooler_belongs_to_the_judgement(tmp_path: Path, settings: Settings, name: str, part: str) -> None:
    folder = save(tmp_path / "models" / "pairs", name, head=1)
    asked(settings, folder, NEXT_SENTENCE)
    gone = part if part == "pooler" else "sop_classifier." if name == "ALBERT" else "seq_relationship."
    assert any(gone in tensor for tensor in load_file(folder / "model.safetensors"))
    weights(folder, lambda tensor: gone not in tensor)
    with pytest.raises(UserError, match=f"pairs has {WHAT[NEXT_SENTENCE]}"):
        asked(settings, folder, NEXT_SENTENCE)


def test_norms_named_as_in_2018_are_known(tmp_path: Path, settings: Settings) -> None:
    folder = save(tmp_path / "models" / "old", "BERT")
    file = folder / "model.safetensors"
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor.clone()
        for name, tensor in load_file(file).items()
    }
    assert "cls.predictions.transform.LayerNorm.gamma" in old
    save_file(old, file, {"format": "pt"})
    asked(settings, folder)


@pytest.mark.parametrize("kind", ["gpt2", "llama", "t5"])
@pytest.mark.parametrize("head", [MASKED, NEXT_SENTENCE])
def test_models_that_write_fill_no_blanks(tmp_path: Path, settings: Settings, kind: str, head: str) -> None:
    folder = save_bare(tmp_path / "models" / kind, kind)
    with pytest.raises(UserError, match=f"{kind} has no .*-"):
        asked(settings, folder, head)


def test_a_model_trained_for_both_serves_both(tmp_path: Path, settings: Settings) -> None:
    import torch
    from transformers import BertConfig, BertForPreTraining

    folder = save(tmp_path / "models" / "both", "BERT")
    torch.manual_seed(1)
    BertForPreTraining(BertConfig.from_pretrained(folder)).save_pretrained(folder)
    asked(settings, folder)
    asked(settings, folder, NEXT_SENTENCE)
    card = next(card for card in catalogue(settings) if card.local)
    assert card.heads == (MASKED, NEXT_SENTENCE)


@pytest.mark.parametrize("name", KINDS)
def test_lists_know_the_head_by_its_tensors(tmp_path: Path, settings: Settings, name: str) -> None:
    folder = save(tmp_path / "models" / "mine", name)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["Anything"]}))
    [card] = [card for card in catalogue(settings) if card.local]
    assert card.heads == (MASKED,)


@pytest.mark.parametrize("name", PAIRS)
def test_lists_know_the_judges(tmp_path: Path, settings: Settings, name: str) -> None:
    save(tmp_path / "models" / "mine", name, head=1)
    [card] = [card for card in catalogue(settings) if card.local]
    assert NEXT_SENTENCE in card.heads


def test_lists_know_who_has_none(tmp_path: Path, settings: Settings) -> None:
    save_bare(tmp_path / "models" / "bare", "bert")
    save_bare(tmp_path / "models" / "writer", "gpt2")
    found = {card.title: card.heads for card in catalogue(settings) if card.local}
    assert found == {"bare": (), "writer": (CAUSAL,)}


def test_another_models_head(tmp_path: Path, settings: Settings) -> None:
    """RoBERTa's configuration with BERT's weights would load with a randomly initialised head."""
    folder = save(tmp_path / "models" / "mixed", "RoBERTa")
    other = save(tmp_path / "models" / "other", "BERT")
    shutil.copyfile(other / "model.safetensors", folder / "model.safetensors")
    with pytest.raises(UserError, match=f"mixed has {WHAT[MASKED]}"):
        asked(settings, folder)
