"""Loading of models: exact weights or a refusal, and the model's own length limits."""

from __future__ import annotations

import gc
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from inference import LocalBackend, TraceRequest
from inference.errors import UserError
from inference.files.checkpoint import inspect
from inference.files.sources import ModelSource
from inference.load.loading import load
from inference.loaded_model import LoadedModel
from inference.record import capture
from inference.settings import Settings
from tests.support import tinymodels
from tests.support.cases import loop_over
from tests.support.tinymodels import save

LIMITS = {"bert": 40, "roberta": 40, "gpt2": 48, "llama": 64, "marian": 64}  # RoBERTa's position table has 42 rows.
KINDS = {"bert": "encoder", "deberta": "encoder", "roberta": "encoder", "gpt2": "decoder", "llama": "decoder"}
KINDS |= {"t5": "encoder-decoder", "marian": "encoder-decoder"}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for kind in KINDS:
        save(root / kind, kind)
    return root


def opened(folder: Path, **changes: Any) -> LoadedModel:
    return load(ModelSource(folder.name, None, folder), Settings(**changes))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
@loop_over("kind", KINDS)
def test_kinds_and_limits(models: Path, kind: str) -> None:
    loaded = opened(models / kind)
    assert loaded.id.kind == KINDS[kind]
    assert loaded.records == (kind != "deberta")
    assert loaded.writes == (kind in ("t5", "marian"))
    assert loaded.limit == LIMITS.get(kind, loaded.limit)
    assert loaded.nbytes == sum(t.nbytes for t in [*loaded.model.parameters(), *loaded.model.buffers()])


def test_an_encoder_fed_another_models_weights(models: Path, tmp_path: Path) -> None:
    shutil.copytree(models / "gpt2", tmp_path / "mixed")
    shutil.copyfile(models / "bert" / "model.safetensors", tmp_path / "mixed" / "model.safetensors")
    with pytest.raises(UserError, match=r"GPT2LMHeadModel: [0-9]+ of"):
        opened(tmp_path / "mixed")


def test_shapes_that_differ(models: Path, tmp_path: Path) -> None:
    shutil.copytree(models / "bert", tmp_path / "wide")
    config = json.loads((tmp_path / "wide" / "config.json").read_text())
    (tmp_path / "wide" / "config.json").write_text(json.dumps(config | {"intermediate_size": 64}))
    with pytest.raises(UserError, match=r" wide .*configuration"):
        opened(tmp_path / "wide")


@pytest.mark.parametrize("changes", [{"num_attention_heads": 5}, {"hidden_act": "nonsense"}, {"vocab_size": -1}])
def test_configurations_that_make_no_model(models: Path, tmp_path: Path, changes: dict[str, object]) -> None:
    shutil.copytree(models / "bert", tmp_path / "odd")
    config = json.loads((tmp_path / "odd" / "config.json").read_text())
    (tmp_path / "odd" / "config.json").write_text(json.dumps(config | changes))
    with pytest.raises(UserError):
        opened(tmp_path / "odd")


def test_a_pooler_may_be_missing(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    save(tmp_path, "bert")
    weights = load_file(tmp_path / "model.safetensors")
    save_file({k: v for k, v in weights.items() if "pooler" not in k}, tmp_path / "model.safetensors", {"format": "pt"})
    assert opened(tmp_path).records


def test_damaged_tokenizers(models: Path, tmp_path: Path) -> None:
    for name, content in {"a": "{", "b": '{"version": "1.0"}', "c": "[]"}.items():
        shutil.copytree(models / "bert", tmp_path / name)
        (tmp_path / name / "tokenizer.json").write_text(content)
        with pytest.raises(UserError, match=f"tokenizer of {name}|vocabulary"):
            opened(tmp_path / name)


def test_a_tokenizer_without_a_vocabulary(models: Path, tmp_path: Path) -> None:
    """transformers silently creates a vocabulary of five special tokens."""
    shutil.copytree(models / "bert", tmp_path / "mute", ignore=shutil.ignore_patterns("tokenizer*", "vocab*"))
    (tmp_path / "mute" / "vocab.txt").write_text("")
    with pytest.raises(UserError, match=r"vocabulary|tokenizer"):
        opened(tmp_path / "mute")


def test_code_that_comes_with_a_model_is_never_run(models: Path, tmp_path: Path) -> None:
    shutil.copytree(models / "bert", tmp_path / "coded")
    config = json.loads((tmp_path / "coded" / "config.json").read_text())
    hostile = {"model_type": "own", "auto_map": {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}}
    (tmp_path / "coded" / "config.json").write_text(json.dumps(config | hostile))
    (tmp_path / "coded" / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(UserError, match=r"^coded .*code"):
        opened(tmp_path / "coded")
    known = hostile | {"model_type": "bert"}
    (tmp_path / "coded" / "config.json").write_text(json.dumps(config | known))
    assert opened(tmp_path / "coded").id.architecture == "BertModel"
    assert not (tmp_path / "ran").exists()


def test_too_large_for_the_budget(models: Path) -> None:
    with pytest.raises(UserError, match=r"bert needs .*0\.0 GB .*0\.0 GB"):
        opened(models / "bert", model_memory_bytes=1000)


def test_room_is_made_for_what_the_model_takes_and_only_if_it_may(models: Path) -> None:
    rooms: list[int] = []
    loaded = load(ModelSource("bert", None, models / "bert"), Settings(), rooms.append)
    assert len(rooms) == 1
    assert inspect(models / "bert", "bert").memory_bytes <= rooms[0] <= 33_000_000 + 2 * loaded.nbytes
    with pytest.raises(UserError):
        load(ModelSource("bert", None, models / "bert"), Settings(model_memory_bytes=1000), rooms.append)
    assert len(rooms) == 1


def test_a_configuration_larger_than_its_weights_takes_no_memory(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(models / "bert", tmp_path / "vast")
    config = json.loads((tmp_path / "vast" / "config.json").read_text())
    (tmp_path / "vast" / "config.json").write_text(json.dumps(config | {"hidden_size": 300_000}))
    monkeypatch.setattr("transformers.AutoModel.from_pretrained", lambda *_, **__: pytest.fail("it was built"))
    with pytest.raises(UserError, match=r"vast needs .*[1-9].* GB"):
        opened(tmp_path / "vast", model_memory_bytes=10**9)


def test_a_configuration_that_would_be_built_for_hours(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inference.load.shared_weights.MOST_MODULES", 20)
    with pytest.raises(UserError, match=r" bert .*configuration"):
        opened(models / "bert")
    monkeypatch.undo()
    for _ in range(2):  # Modules are counted for each model separately.
        torch.nn.Sequential(*(torch.nn.Identity() for _ in range(30)))
    assert opened(models / "bert").records


@pytest.mark.slow
@pytest.mark.usefixtures("tidy")
def test_what_is_loaded_leaves_the_collectors_sight(models: Path) -> None:
    gc.unfreeze()
    opened(models / "bert")
    assert gc.get_freeze_count() > 10_000


def test_why_an_architecture_cannot_be_shown_reaches_the_reader(tmp_path: Path) -> None:
    """LongT5 reports its attention in blocks, and the error message gives this reason."""
    import transformers as t

    save(tmp_path / "t5", "t5")
    config = t.LongT5Config(
        vocab_size=130, d_model=24, d_kv=8, d_ff=20, num_layers=2, num_heads=3, decoder_start_token_id=0
    )
    t.LongT5ForConditionalGeneration(config).save_pretrained(tmp_path / "t5")
    with pytest.raises(UserError, match="in blocks"):
        LocalBackend(Settings(model_folders=(tmp_path,))).trace(TraceRequest(str(tmp_path / "t5"), "the cat sat"))


def saved(folder: Path, model: Any) -> Path:
    """Save a model with the tokenizer of the tiny BERT and return its folder."""
    tinymodels.wordpiece(folder)
    model.save_pretrained(folder)
    return folder


def test_a_folder_gives_maps_of_its_own_computation(tmp_path: Path) -> None:
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "vocab_size": 120}
    torch.manual_seed(0)
    falcon = transformers.FalconForCausalLM(transformers.FalconConfig(**sizes, num_kv_heads=3, alibi=True))
    splinter = transformers.SplinterModel(transformers.SplinterConfig(**sizes, intermediate_size=20))
    loaded = opened(saved(tmp_path / "splinter", splinter))
    assert loaded.id.kind == "encoder"
    assert loaded.records
    ids = torch.arange(5, 12)[None]
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    [parts] = capture.record_parts(loaded.model, given)
    assert set(parts) == {"encoder"}
    with torch.inference_mode():
        own = falcon.eval().transformer(**given)[0]  # The reference is sdpa, because eager attention adds ALiBi twice.
    loaded = opened(saved(tmp_path / "falcon", falcon))
    assert not loaded.records
    found = capture.record(loaded.model, given)
    assert set(found.parts[0]) == {"decoder"}
    torch.testing.assert_close(found.output[0], own)
    with torch.inference_mode():
        eager = loaded.model(**given, output_attentions=True).attentions[0][0]
    weights = np.stack([found.parts[0]["decoder"][0].weights(head) for head in range(3)])
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
    assert np.abs(weights - eager.numpy()).max() > 1e-4


def test_a_folder_that_fails_gives_the_reason(tmp_path: Path) -> None:
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20}
    torch.manual_seed(0)
    bros = transformers.BrosModel(transformers.BrosConfig(**sizes, vocab_size=120))
    with pytest.raises(UserError, match="specify bbox"):
        opened(saved(tmp_path / "bros", bros))


def test_a_folder_of_few_positions_is_read(tmp_path: Path) -> None:
    assert opened(save(tmp_path / "short", "bert", max_position_embeddings=5)).limit == 5
