"""The target side of encoder-decoder models."""

from __future__ import annotations

from pathlib import Path

import pytest

from attention.edits import Ablate, MaskEdge, Uniform
from inference.errors import UserError
from inference.files.sources import ModelSource
from inference.load.loading import _target_rows, load
from inference.loaded_model import LoadedModel
from inference.settings import Settings
from inference.write.decoding import start_token
from inference.write.target_text import MOST_WRITTEN, force_tokens, read_target, write_target
from tests.support import architectures
from tests.support.architectures import SEQ2SEQ, Architecture, named
from tests.support.cases import loop_over
from tests.support.tinymodels import save
from tests.support.writers import TRANSLATORS, build, generated, source

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedModel]:
    root = tmp_path_factory.mktemp("models")
    return {kind: load(ModelSource(kind, None, save(root / kind, kind)), Settings()) for kind in ("t5", "marian")}


@pytest.mark.parametrize("kind", ["t5", "marian"])
def test_a_given_target_is_read_one_place_late(models: dict[str, LoadedModel], kind: str) -> None:
    loaded = models[kind]
    target, text = read_target(loaded, "Le chat dort.")
    assert text == "Le chat dort."
    assert target.row.special[0]
    assert not any(target.row.special[1:])
    assert target.ids[0] == loaded.model.config.decoder_start_token_id
    assert target.ids[1:] == loaded.reader.read_target("Le chat dort.").ids[:-1]


def test_what_the_model_writes_is_its_greedy_answer(models: dict[str, LoadedModel]) -> None:
    import torch

    loaded = models["marian"]
    source = loaded.reader.read("The cat sat.", None, None)
    target, text = write_target(loaded, source)
    assert len(target.ids) <= MOST_WRITTEN + 1
    with torch.inference_mode():
        logits = loaded.model(input_ids=torch.tensor([source.ids]), decoder_input_ids=torch.tensor([target.ids])).logits
    steps = logits[0].argmax(-1).tolist()
    assert list(target.ids[1:10]) == steps[:9]
    assert text


@pytest.mark.parametrize("kind", ["t5", "marian"])
def test_it_writes_what_transformers_writes(models: dict[str, LoadedModel], kind: str) -> None:
    import torch

    loaded = models[kind]
    source = loaded.reader.read("A small dog", None, None)
    ids = torch.tensor([source.ids])
    room = 2 * len(source.ids) + 20
    own = loaded.model.generate(
        input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=room, num_beams=1, do_sample=False
    )[0].tolist()
    end = loaded.model.generation_config.eos_token_id
    assert list(write_target(loaded, source)[0].ids) == (own[:-1] if own[-1] == end else own)


FSMT = Architecture("FSMT", "fsmt", "encoder-decoder",
                    {**SEQ2SEQ, "src_vocab_size": 40, "vocab_size": 50, "langs": ["en", "fr"],
                     "tie_word_embeddings": False})  # fmt: skip


@loop_over("row", [*TRANSLATORS, FSMT], ids=lambda row: row.name)
def test_what_can_be_written_is_known_of_every_translator(row: Architecture) -> None:
    rows = row.config["vocab_size"]
    assert _target_rows(build(row), 40) == _target_rows(architectures.build(row, "eager"), 40) == rows


@pytest.mark.parametrize("stated", [{"decoder_start_token_id": 5, "bos_token_id": 6}, {"bos_token_id": 6}], ids=len)
@pytest.mark.parametrize("configured", [7, None])
def test_the_start_token_is_the_one_that_generate_takes(stated: dict[str, int], configured: int | None) -> None:
    model = build(named("BART"), **{"decoder_start_token_id": None, **stated})
    model.config.decoder_start_token_id = configured
    assert start_token(model) == generated(model, source(), max_length=4)[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["t5", "marian"])
def test_edits_hold_while_it_writes(models: dict[str, LoadedModel], kind: str) -> None:
    import torch

    from inference.record.edit_hooks import apply_edits

    loaded = models[kind]
    edits = (Ablate(0, 1, "cross"), Uniform(1, 0, "cross"), MaskEdge(1, 2, 3, 1, "decoder"), Ablate(1, 0, "encoder"))
    source = loaded.reader.read("The dog barked at the cat", None, None)
    target, _ = write_target(loaded, source, edits)
    given = {"input_ids": torch.tensor([source.ids])}
    for done in range(1, 10):
        with apply_edits(loaded.model, [edits[:2] + edits[3:] if done < 4 else edits]), torch.inference_mode():
            logits = loaded.model(**given, decoder_input_ids=torch.tensor([target.ids[:done]])).logits
        assert target.ids[done] == logits[0, -1].argmax()


@pytest.mark.parametrize("kind", ["t5", "marian"])
def test_exact_tokens_are_read_after_the_start_token(models: dict[str, LoadedModel], kind: str) -> None:
    loaded = models[kind]
    settings = loaded.model.generation_config
    for tokens in ((), (7,), (7, 9, 8), (7, settings.eos_token_id)):
        target, text = force_tokens(loaded, tokens)
        read = tokens[:-1] if tokens and tokens[-1] == settings.eos_token_id else tokens
        assert target.ids == (settings.decoder_start_token_id, *read)
        assert target.row.special[0]
        assert bool(text) == bool(read)
    with pytest.raises(UserError, match="no token 4000; tokens"):
        force_tokens(loaded, (4000,))


def test_exact_tokens_that_are_too_many(models: dict[str, LoadedModel]) -> None:
    assert len(force_tokens(models["marian"], (7,) * 63)[0].ids) == 64
    with pytest.raises(UserError, match=r"65 tokens.* 64\b") as caught:
        force_tokens(models["marian"], (7,) * 64)
    assert caught.value.details["limit"] == 64


def test_a_target_that_is_too_long(models: dict[str, LoadedModel]) -> None:
    with pytest.raises(UserError, match=r"target .* 64") as caught:
        read_target(models["marian"], "le chat " * 60)
    assert caught.value.details["limit"] == 64


def test_a_model_without_a_head_for_writing(tmp_path: Path) -> None:
    import transformers

    from tests.support.tinymodels import unigram

    unigram(tmp_path)
    sizes = {"d_model": 24, "d_kv": 8, "d_ff": 20, "num_layers": 2, "num_heads": 3}
    transformers.T5Model(transformers.T5Config(vocab_size=130, decoder_start_token_id=0, **sizes)).save_pretrained(
        tmp_path
    )
    loaded = load(ModelSource("bare", None, tmp_path), Settings())
    with pytest.raises(UserError, match=r"^bare "):
        write_target(loaded, loaded.reader.read("The cat", None, None))
    assert read_target(loaded, "Le chat")[0].ids[0] == 0
    assert force_tokens(loaded, (7, 8))[0].ids == (0, 7, 8)
