"""The pretraining model, its losses, head initialisation, optimiser and attention distillation."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertForPreTraining, BertModel

from inference.errors import UserError
from tests.support.trainingtexts import library, write_start
from training import corpus
from training.batches import PretrainingBatch, PretrainingBatches
from training.config import BertOptimizer
from training.model import build, divergence, losses, read, start_folder, teach, vocabulary, warm_start
from training.schedule import optimiser, set_rate

CPU = torch.device("cpu")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_start(tmp_path / "start")
    corpus.write(library(), tmp_path / "start" / "tokenizer.json", tmp_path / "corpus")
    return tmp_path / "start"


@pytest.fixture
def batches(folder: Path) -> PretrainingBatches:
    return PretrainingBatches(corpus.read(folder.parent / "corpus"), vocabulary(folder), 48, 5, seed=1)


@pytest.fixture
def batch(batches: PretrainingBatches) -> PretrainingBatch:
    return batches(0, 0.15)


def test_both_losses_are_transformers_own(folder: Path, batch: PretrainingBatch) -> None:
    model, _ = build(folder, 0)
    pieces, pairs = losses(read(model, batch, CPU), batch)
    labels = torch.full(batch.real.shape, -100)
    labels.view(-1)[torch.from_numpy(batch.masked.places)] = torch.from_numpy(batch.masked.labels)
    whole = model(
        torch.from_numpy(batch.masked.pieces),
        attention_mask=torch.from_numpy(batch.real),
        token_type_ids=torch.from_numpy(batch.segments),
        labels=labels,
        next_sentence_label=torch.from_numpy(batch.random),
    )
    assert (pieces + pairs).item() == pytest.approx(whole.loss.item(), rel=1e-5)


def test_an_encoder_s_weights_are_taken_whole(folder: Path) -> None:
    first, trained = build(folder, 0)
    assert not trained
    first.bert.half().save_pretrained(folder)
    second, trained = build(folder, 1)
    assert trained
    for name, value in first.bert.state_dict().items():
        assert torch.equal(second.bert.state_dict()[name], value.float()), name
    assert second.cls.predictions.decoder.weight is second.bert.embeddings.word_embeddings.weight


def test_a_part_of_an_encoder_is_refused(folder: Path) -> None:
    build(folder, 0)[0].bert.save_pretrained(folder)
    weights = load_file(folder / "model.safetensors")
    del weights["pooler.dense.bias"]
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(UserError, match="BERT encoder"):
        build(folder, 0)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match="no tokenizer"):
        start_folder(str(tmp_path))


def test_the_same_seed_draws_the_same_weights(folder: Path) -> None:
    states = [build(folder, seed)[0].state_dict() for seed in (4, 4, 5)]
    name = "cls.predictions.transform.dense.weight"
    assert torch.equal(states[0][name], states[1][name])
    assert not torch.equal(states[0][name], states[2][name])


def test_a_warm_started_head_is_far_better_than_a_random_one(folder: Path, batches: PretrainingBatches) -> None:
    model, _ = build(folder, 0)
    held = batches(999, 0.15)
    before = float(losses(read(model, held, CPU), held)[0].detach())
    warm_start(model, (batches(step, 0.15) for step in range(15)), batches.corpus.counts)
    after = float(losses(read(model, held, CPU), held)[0].detach())
    assert after < before - 0.3


def test_groups_cover_every_parameter_once_and_spare_biases_and_norms(folder: Path) -> None:
    model, _ = build(folder, 0)
    made = optimiser(model, BertOptimizer(rate=0.1, weight_decay=0.3), layer_decay=0.5)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    found = {names[id(parameter)]: group for group in made.param_groups for parameter in group["params"]}
    assert set(found) == set(names.values())
    assert sum(len(group["params"]) for group in made.param_groups) == len(names)
    for name, group in found.items():
        spared = name.endswith("bias") or "LayerNorm" in name
        assert group["weight_decay"] == (0.0 if spared else 0.3), name
    peaks = {name: group["peak"] for name, group in found.items()}
    assert peaks["bert.encoder.layer.1.output.dense.weight"] == 0.1
    assert peaks["bert.encoder.layer.0.output.dense.weight"] == 0.05
    assert peaks["bert.embeddings.position_embeddings.weight"] == 0.025
    assert peaks["cls.seq_relationship.weight"] == 0.1
    set_rate(made, 0.5)
    assert {group["lr"] for group in made.param_groups} == {0.05, 0.025, 0.0125}


def test_attention_diverges_from_another_encoder_s_only(folder: Path, batch: PretrainingBatch) -> None:
    models: list[BertForPreTraining] = [build(folder, seed)[0] for seed in (0, 1)]
    encoders: list[BertModel] = [model.bert.eval() for model in models]
    taught = teach(encoders[0], batch, CPU, 3)
    assert float(divergence(taught, taught)) == 0.0
    assert float(divergence(taught, teach(encoders[1], batch, CPU, 5))) > 1e-6
    rows = torch.stack(taught).sum(dim=-1)
    assert torch.allclose(rows, torch.ones_like(rows), atol=1e-5)
