"""The two notebook calls show the same weights as the app for the same text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

import headlight
from attention.record import Unavailable
from inference import LocalBackend, TraceRequest, UserError
from inference.hub_cards import HUB_CARDS
from inference.settings import Settings
from serving.protocol import TRACES, pack, unpack
from serving.service import Service
from tests.serving.test_service import ask
from tests.support import tinymodels
from tests.support.hybridmodels import ATTENDING, HEADS, hybrid

TEXT, PAIR = "The cat was tired.", "It was!"


@pytest.mark.slow
@pytest.mark.parametrize("pair", [None, PAIR])
def test_a_notebook_shows_what_the_app_shows(pair: str | None, tmp_path: Path) -> None:
    folder = tinymodels.save(tmp_path / "bert", "bert")
    backend = LocalBackend(Settings(model_folders=(tmp_path,), offline=True))
    app = backend.trace(TraceRequest(model=str(folder), text=TEXT, pair=pair))
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    read = tokenizer(TEXT, pair, return_tensors="pt")
    with torch.inference_mode():
        maps = model(**read, output_attentions=True).attentions
    second = None if pair is None else read["token_type_ids"][0].tolist().index(1)
    viewed = headlight.view(maps, tokenizer.convert_ids_to_tokens(read["input_ids"][0]), second=second)
    explored = headlight.explore(model, tokenizer, TEXT, pair)
    for shown, off in ((viewed, 2e-6), (explored, 0)):
        assert shown.trace.source.pieces == app.source.pieces
        assert shown.trace.source.words == app.source.words
        assert shown.trace.source.segments == app.source.segments
        for layer in range(app.layers):
            for head in range(app.heads):
                np.testing.assert_allclose(shown.trace.weights(layer, head), app.weights(layer, head), atol=off)
    assert viewed.selection == explored.selection


def test_tokens_that_look_at_keys() -> None:
    maps = np.full((1, 2, 2, 3), 1 / 3)
    shown = headlight.view(maps, ["<s>", "chat"], keys=["the", "cat", "</s>"])
    assert (shown.trace.part, shown.view.crosses) == ("cross", True)
    assert [cell.text for cell in shown.view.keys] == ["the", "cat", "</s>"]
    assert (shown.trace.text, shown.trace.target_text) == ("the cat", "chat")
    with pytest.raises(ValueError, match="second out"):
        headlight.view(maps, ["<s>", "chat"], keys=["the", "cat", "</s>"], second=1)


@pytest.mark.slow
def test_a_long_text_is_truncated_if_asked(tmp_path: Path) -> None:
    folder = tinymodels.save(tmp_path / "bert", "bert")  # The model has 40 positions.
    model = transformers.AutoModel.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with pytest.raises(ValueError, match=r"truncate=True\.$"):
        headlight.explore(model, tokenizer, "cat " * 50)
    shown = headlight.explore(model, tokenizer, "cat " * 50, truncate=True)
    assert shown.trace.tokens == ("[CLS]", *["cat"] * 38, "[SEP]")
    assert headlight.explore(model, tokenizer, "cat cat", truncate=True).trace.tokens == (
        "[CLS]",
        "cat",
        "cat",
        "[SEP]",
    )
    for wrong in (128, "yes", None):
        with pytest.raises(ValueError, match="or False"):
            headlight.explore(model, tokenizer, "cat", truncate=wrong)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_translator_is_given_its_target_text(tmp_path: Path) -> None:
    folder = tinymodels.save(tmp_path / "t5", "t5")
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    shown = headlight.explore(model, tokenizer, "The cat", target_text="Le chat dort")
    assert shown.trace.target_text == "Le chat dort"
    folder = tinymodels.save(tmp_path / "bert", "bert")
    model = transformers.AutoModel.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with pytest.raises(ValueError, match="text out"):
        headlight.explore(model, tokenizer, "The cat", target_text="Le chat dort")


@pytest.mark.parametrize("also", [{"pair": "a"}, {"target_text": "a"}, {"truncate": True}])
def test_a_picture_is_read_alone(also: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"target_text.*truncate"):
        headlight.explore(None, None, np.zeros((4, 4, 3), np.uint8), **also)  # type: ignore[arg-type]


@pytest.mark.slow
def test_an_unknown_text_is_refused(tmp_path: Path) -> None:
    folder = tinymodels.save(tmp_path / "bert", "bert")
    model, tokenizer = (kind.from_pretrained(folder) for kind in (transformers.AutoModel, transformers.AutoTokenizer))
    with pytest.raises(UserError) as refused:
        headlight.explore(model, tokenizer, "猫坐在垫子上", TEXT)
    assert any(card.id in refused.value.message for card in HUB_CARDS)
    assert "[UNK]" in refused.value.message
    assert headlight.explore(model, tokenizer, "the cat was tired 猫").trace.source.unknown_words()[0] == 1


@pytest.mark.slow
def test_a_hybrid_in_memory_over_http_and_in_the_app_is_the_same(tmp_path: Path) -> None:
    hybrid(tmp_path)
    settings = Settings(model_folders=(tmp_path,), offline=True)
    request = TraceRequest(model=str(tmp_path), text=TEXT)
    app = LocalBackend(settings).trace(request)
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    explored = headlight.explore(model, transformers.AutoTokenizer.from_pretrained(tmp_path), TEXT).trace
    _keys, (served,) = unpack(ask(Service(LocalBackend(settings)), TRACES, pack((request,))).content)
    for trace in (explored, served):
        assert (trace.layers, trace.attending()) == (app.layers, ATTENDING)
        for layer in ATTENDING:
            for head in range(HEADS):
                np.testing.assert_allclose(trace.weights(layer, head), app.weights(layer, head), atol=1e-6)
        with pytest.raises(Unavailable):
            trace.weights(2, 0)
