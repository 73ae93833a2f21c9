"""The Chinese encoder: the weights kept from its file, synthetic or real, and traces as of other models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention.tokens import is_out_of_vocabulary
from inference import LocalBackend, TraceRequest
from inference.catalogue.listing import E5_CARD, catalogue
from inference.errors import UserError
from inference.files import extras, packages
from inference.files.extras import E5, read
from inference.files.packages import unpacked_once
from inference.settings import Settings
from inference.task_heads import MASKED, WHAT
from inference.tasks.hidden_states import Pooled
from inference.tasks.predictions import MaskedWords
from tests.support import e5files

TEXT = "我去了上海, 猫。"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> e5files.Made:
    """Return a synthetic file that replaces the packaged file."""
    found = e5files.write(tmp_path / "made-up.bin")
    known = replace(E5, sha256=packages.sha256(found.file))
    monkeypatch.setattr(extras, "ALL", (known,))
    monkeypatch.setattr(packages, "packaged_file", lambda _package, _file: found.file)
    return found


@pytest.fixture
def backend(tmp_path: Path) -> LocalBackend:
    return LocalBackend(Settings(cache=tmp_path / "cache", offline=True))


def test_chinese_and_ascii_stay_in_their_order(made: e5files.Made) -> None:
    packed = read(made.file)
    stay = [packed.pieces[at] for at in extras.retained_pieces(packed)]
    assert stay[:4] == list(e5files.SPECIAL)
    assert stay[4:] == [piece for piece in made.pieces[4:] if piece in e5files.KEPT or piece in ("▁chat", "<mask>")]


def test_of_the_pieces_without_chinese_the_commonest_stay_and_all_letters(
    made: e5files.Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "PLAIN_PIECES", 1)
    packed = read(made.file)
    stay = {packed.pieces[at] for at in extras.retained_pieces(packed)}
    assert {"▁", *"abct,.", "猫", "上海", "去了"} <= stay
    assert stay.isdisjoint({"▁cat", "▁chat", "<mask>"})


def test_the_weights_are_the_files_own(made: e5files.Made, backend: LocalBackend) -> None:
    loaded = backend.loaded(E5.name, None)
    stay = [made.pieces.index(piece) for piece in loaded.reader.tokenizer.convert_ids_to_tokens(range(16))]
    weights = loaded.model.state_dict()
    for name, expected in {
        "embeddings.word_embeddings.weight": made.tensors["emb.word"][stay],
        "embeddings.token_type_embeddings.weight": made.tensors["emb.type"],
        "encoder.layer.2.output.dense.weight": made.tensors["l2.fo.w"],
        "encoder.layer.1.attention.output.LayerNorm.bias": made.tensors["l1.aln.b"],
        "encoder.layer.0.attention.self.key.weight": made.tensors["l0.k.w"],
    }.items():
        found = weights[name].numpy()[: len(expected)]
        assert np.array_equal(found, expected.astype(np.float16).astype(np.float32)), name


@pytest.mark.usefixtures("made")
def test_it_traces_as_every_other_model_does(backend: LocalBackend) -> None:
    trace = backend.trace(TraceRequest(model=E5.name, text=TEXT))
    assert trace.source.pieces == ("<s>", "␣", "我", "去了", "上海", ",", "␣", "猫", "。", "</s>")
    assert [token for token in range(10) if is_out_of_vocabulary(trace.source.unknown[token])] == [8]
    weights = trace.weights(2, 3)
    assert weights.shape == (10, 10)
    assert weights.sum(axis=-1) == pytest.approx(1.0)


@pytest.mark.usefixtures("made")
def test_it_has_no_head_that_fills_blanks_and_that_is_said(backend: LocalBackend) -> None:
    with pytest.raises(UserError, match=WHAT[MASKED]):
        backend.predict(MaskedWords(model=E5.name, text=TEXT))
    assert E5_CARD.heads == ()


@pytest.mark.usefixtures("made")
def test_white_space_of_any_kind_is_one_space(backend: LocalBackend) -> None:
    tokenizer = backend.loaded(E5.name, None).reader.tokenizer
    for text in ("猫\n\t猫", "猫\u200b猫", "猫\u3000 猫", "猫\x01 猫"):
        assert tokenizer.tokenize(text) == ["▁", "猫", "▁", "猫"], text


@pytest.mark.usefixtures("made")
def test_a_pair_is_parted_as_it_was_in_training(backend: LocalBackend) -> None:
    tokenizer: Any = backend.loaded(E5.name, None).reader.tokenizer
    ids = tokenizer("a", "b").input_ids
    assert tokenizer.convert_ids_to_tokens(ids) == ["<s>", "▁", "a", "</s>", "</s>", "▁", "b", "</s>"]


there = pytest.mark.skipif(not E5.is_installed(), reason="the extra of requirements-chinese.txt is not installed")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> LocalBackend:
    unpacked_once.cache_clear()
    return LocalBackend(Settings(cache=tmp_path_factory.mktemp("real"), offline=True))


@there
def test_the_real_one_is_listed_and_has_the_size_that_is_told(real: LocalBackend) -> None:
    assert E5_CARD in catalogue(real.settings)
    loaded = real.loaded(E5.name, None)
    assert len(loaded.reader.tokenizer) == loaded.model.config.vocab_size == 23_166
    assert (loaded.model.config.num_hidden_layers, loaded.model.config.num_attention_heads) == (12, 12)
    read = loaded.reader.tokenizer.tokenize("北京大学的学生去了上海。")
    assert read == ["▁", "北京", "大学", "的学生", "去了", "上海", "。"]


@there
def test_the_real_one_finds_like_things_alike_in_both_languages(real: LocalBackend) -> None:
    texts = ("今天股市大涨", "港股上涨，A股收高", "The stock market rose today", "他喜欢踢足球", "She plays football")
    found = real.inspect(Pooled(model=E5.name, texts=tuple(f"query: {text}" for text in texts))).vectors
    units = found / np.linalg.norm(found, axis=-1, keepdims=True)
    like = units @ units.T
    assert like[0, 1] == pytest.approx(0.92, abs=0.01)
    assert like[0, 1] > like[0, 3], "among the Chinese ones"
    assert like[0, 2] > like[0, 4], "among the English ones"
    assert like[4, 3] > max(like[4, 0], like[4, 1]), "from English to Chinese"
