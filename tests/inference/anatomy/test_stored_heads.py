"""The task heads of a checkpoint, found from its configuration and from the tensors in its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from inference import LocalBackend
from inference.anatomy.module_roles import names
from inference.settings import Settings
from inference.tasks.anatomy import Anatomy
from tests.support import tinymodels

SMALL = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20,
         "vocab_size": 120, "max_position_embeddings": 40}  # fmt: skip
GPT = {"vocab_size": 350, "n_positions": 48, "n_embd": 24, "n_layer": 2, "n_head": 3,
       "bos_token_id": 0, "eos_token_id": 0}  # fmt: skip
TRANSFORM = 24 * 24 + 24 + 2 * 24  # The transform is a linear layer and a layer norm.


def tops_of(folder: Path, model: Any, tokenizer: Any = tinymodels.wordpiece) -> Any:
    """Save a model and its tokenizer to a folder and return the task heads found there, by class."""
    torch.manual_seed(0)
    tokenizer(folder)
    model.save_pretrained(folder)
    return found_in(folder)


def found_in(folder: Path) -> Any:
    backend = LocalBackend(Settings(model_folders=(folder.parent,)))
    return {top.class_name: top for top in backend.inspect(Anatomy(model=str(folder))).tops}


def bert(kind: Any, **changes: Any) -> Any:
    return kind(transformers.BertConfig(**{**SMALL, **changes}))


def rename(folder: Path, **changes: Any) -> None:
    """Overwrite fields of the configuration."""
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def test_a_tied_head_counts_its_own_parameters_only(tmp_path: Path) -> None:
    found = tops_of(tmp_path / "masked", bert(transformers.BertForMaskedLM))
    assert list(found) == ["BertForMaskedLM"]
    assert found["BertForMaskedLM"].tied
    assert found["BertForMaskedLM"].count == TRANSFORM + 120


def test_a_head_that_the_configuration_does_not_name_is_found_in_the_files(tmp_path: Path) -> None:
    tops_of(tmp_path / "both", bert(transformers.BertForPreTraining))
    rename(tmp_path / "both", architectures=["BertForMaskedLM"])
    found = found_in(tmp_path / "both")
    assert {name: top.count for name, top in found.items()} == {
        "BertForMaskedLM": TRANSFORM + 120,
        "BertForNextSentencePrediction": 2 * 24 + 2,
    }
    assert not found["BertForNextSentencePrediction"].tied


def test_a_head_that_is_named_but_not_there_is_not_claimed(tmp_path: Path) -> None:
    tops_of(tmp_path / "bare", bert(transformers.BertModel))
    rename(tmp_path / "bare", architectures=["BertForMaskedLM"])
    assert found_in(tmp_path / "bare") == {}


def test_a_head_of_any_size_is_found(tmp_path: Path) -> None:
    found = tops_of(tmp_path / "classes", bert(transformers.BertForSequenceClassification, num_labels=5))
    assert {name: top.count for name, top in found.items()} == {"BertForSequenceClassification": 5 * 24 + 5}


def test_a_head_that_is_the_token_table_has_no_parameters_of_its_own(tmp_path: Path) -> None:
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT))
    [top] = tops_of(tmp_path / "gpt", model, tinymodels.byte_level).values()
    assert (top.class_name, top.count, top.tied, top.tensors) == ("GPT2LMHeadModel", 0, True, ())


def test_names_of_the_first_checkpoints_are_understood(tmp_path: Path) -> None:
    tops_of(tmp_path / "old", bert(transformers.BertForMaskedLM))
    file = tmp_path / "old" / "model.safetensors"
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    tensors = load_file(file)
    for new, former in old.items():
        tensors = {name.replace(new, former): tensor for name, tensor in tensors.items()}
    save_file(tensors, file, {"format": "pt"})
    assert list(found_in(tmp_path / "old")) == ["BertForMaskedLM"]


@pytest.mark.parametrize("stated", ["PreTrainedModel", "os.system", "AutoModel", "torch", "BertConfig", ""])
def test_a_name_that_is_no_model_with_a_head_is_passed_over(tmp_path: Path, stated: str) -> None:
    tops_of(tmp_path / "bare", bert(transformers.BertModel))
    rename(tmp_path / "bare", architectures=[stated])
    assert found_in(tmp_path / "bare") == {}


def test_a_model_without_a_folder_has_no_names() -> None:
    assert names(bert(transformers.BertModel)) == frozenset()
