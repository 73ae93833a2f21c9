"""Models of all supported architectures with a task head, and refusals of all others."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import transformers
from safetensors.torch import load_file

from inference.errors import UserError
from inference.settings import Settings as Machine
from probing.labelled.labeled_texts import Kind
from tests.support import tinyheads, tinymodels
from tests.support.labelledtexts import machine
from training.finetune.model_setup import fill_up, fits_words, open_model

LABELS = ("O", "B-PER", "I-PER")


def opens(folder: Path, kind: Kind, labels: tuple[str, ...] = LABELS, seed: int = 0) -> transformers.PreTrainedModel:
    """Return the model of ``folder`` with a task head."""
    return open_model(str(folder), kind, labels, seed, Machine(model_folders=(folder.parent,), offline=True)).model


@pytest.mark.parametrize("name", tinyheads.KINDS)
def test_an_encoder_has_its_own_weights_below_the_head(tmp_path: Path, name: str) -> None:
    folder = tinyheads.save(tmp_path / "model", name)
    stored = transformers.AutoModel.from_pretrained(folder).state_dict()
    for kind in ("classify", "tag"):
        model = opens(folder, kind)
        assert model.config.id2label == dict(enumerate(LABELS))
        below = model.base_model.state_dict()
        assert below.keys() - {key for key in below if "pooler" in key} <= stored.keys()
        known = [key for key in below if key in stored and "pooler" not in key]  # Some checkpoints have no pooler.
        assert known
        assert all(torch.equal(below[key], stored[key]) for key in known)


def test_a_head_is_drawn_from_the_seed(tmp_path: Path) -> None:
    folder = tinymodels.save(tmp_path / "bert", "bert")
    one, same, other = (opens(folder, "classify", seed=seed).classifier.weight for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_a_head_of_the_same_size_goes_on_and_one_of_another_size_is_new(tmp_path: Path) -> None:
    folder = tinymodels.save(tmp_path / "bert", "bert")
    before = opens(folder, "classify")
    before.save_pretrained(folder)
    assert torch.equal(opens(folder, "classify", ("a", "b", "c"), seed=3).classifier.weight, before.classifier.weight)
    assert opens(folder, "classify", ("a", "b")).classifier.weight.shape[0] == 2


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_decoder_without_padding_fills_up_with_its_end(tmp_path: Path, kind: str) -> None:
    name, settings = machine(tmp_path, kind)
    start = open_model(name, "classify", LABELS, 0, settings)
    assert start.tokenizer.pad_token_id == start.tokenizer.eos_token_id == start.model.config.pad_token_id
    assert start.tokenizer.padding_side == "right"


@pytest.mark.parametrize(
    ("architecture", "kind", "said"),
    [
        ("t5", "classify", "reads one text and writes another"),
        ("marian", "tag", "reads one text and writes another"),
        ("mamba", "classify", "reports no attention"),
    ],
)
def test_what_reads_no_single_text_with_attention_is_refused(
    tmp_path: Path, architecture: str, kind: Kind, said: str
) -> None:
    name, settings = machine(tmp_path, architecture)
    with pytest.raises(UserError, match=said):
        open_model(name, kind, LABELS, 0, settings)


@pytest.mark.parametrize(
    ("config", "kind", "said"),
    [
        (
            transformers.CodeGenConfig(vocab_size=350, n_positions=48, n_embd=24, n_layer=2, n_head=4, rotary_dim=4),
            "classify",
            r"\(codegen\) has no text-classification head",
        ),
        (
            transformers.OPTConfig(
                vocab_size=350, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, ffn_dim=20,
                word_embed_proj_dim=24,
            ),
            "tag",
            r"\(opt\) has no token-classification head",
        ),
    ],
)  # fmt: skip
def test_an_architecture_without_the_head_is_refused(
    tmp_path: Path, config: transformers.PretrainedConfig, kind: Kind, said: str
) -> None:
    tinymodels.byte_level(tmp_path / "model")
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path / "model")
    with pytest.raises(UserError, match=said):
        opens(tmp_path / "model", kind)


def test_weights_that_are_a_program_or_are_missing_are_refused(tmp_path: Path) -> None:
    folder = tinymodels.save(tmp_path / "bert", "bert")
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    with pytest.raises(UserError, match="pickle weights"):
        opens(folder, "classify")


def test_weights_that_lack_a_layer_are_refused(tmp_path: Path) -> None:
    folder = tinymodels.save(tmp_path / "bert", "bert")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}), encoding="utf-8")
    with pytest.raises(UserError, match="BertForSequenceClassification: 16 of"):
        opens(folder, "classify")


def test_a_model_that_does_not_fit_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    name, settings = machine(tmp_path)
    with pytest.raises(UserError, match="needs about"):
        open_model(name, "tag", LABELS, 0, Machine(model_folders=settings.model_folders, model_memory_bytes=1_000))


def test_a_tokenizer_without_places_tags_nothing() -> None:
    with pytest.raises(UserError, match="locate"):
        fits_words(SimpleNamespace(is_fast=False), "old", "tag")
    fits_words(SimpleNamespace(is_fast=False), "old", "classify")


def test_nothing_to_fill_up_with_is_refused() -> None:
    config = transformers.GPT2Config()
    with pytest.raises(UserError, match="no padding"):
        fill_up(SimpleNamespace(pad_token_id=None, eos_token_id=None), config, "bare")
