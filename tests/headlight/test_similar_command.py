"""The table of two texts, which sums to their cosine for every pooling."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import headlight
from attention.similarity import POOLINGS, pooling_shares, similarity_table
from attention.vectors import cosine, pool
from headlight.command import main
from inference.errors import UserError
from inference.runners.similarity import stated_pooling
from tests.support.cases import loop_over

SPECIAL = (True, False, False, True)


@loop_over("pooling", POOLINGS)
def test_the_table_sums_to_the_cosine_of_the_pooled_vectors(pooling: str) -> None:
    random = np.random.default_rng(0)
    a, b = (random.normal(size=(4, 6)).astype(np.float32) for _ in range(2))
    shares = [pooling_shares(vectors, SPECIAL, pooling) for vectors in (a, b)]
    found = similarity_table(shares[0], shares[1])
    pooled = [pool(vectors, SPECIAL, pooling)[None] for vectors in (a, b)]
    assert found.cosine == pytest.approx(cosine(pooled[0], pooled[1])[0, 0], abs=1e-6)
    assert found.table.sum() == pytest.approx(found.cosine, abs=1e-9)
    if pooling == "words":
        assert found.special_share(SPECIAL, SPECIAL) == 0


@loop_over("pooling", POOLINGS)
def test_exchanged_texts_transpose_the_table(pooling: str) -> None:
    random = np.random.default_rng(1)
    a, b = (pooling_shares(random.normal(size=(4, 6)).astype(np.float32), SPECIAL, pooling) for _ in range(2))
    one, other = similarity_table(a, b), similarity_table(b, a)
    np.testing.assert_allclose(one.table.T, other.table, atol=1e-12)
    assert similarity_table(a, a).cosine == pytest.approx(1)


def test_a_zero_vector_has_a_zero_table() -> None:
    found = similarity_table(np.zeros((2, 3)), np.ones((1, 3)))
    assert found.cosine == 0
    assert not found.table.any()


def save_modules(folder: Path, types: list[str], settings: dict[str, object]) -> Path:
    modules = [{"type": f"sentence_transformers.{name}", "path": f"{at}_{name}"} for at, name in enumerate(types)]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(settings))
    return folder


@pytest.mark.parametrize(
    ("settings", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "first"),
        ({"pooling_mode_max_tokens": True}, "max"),
        ({"pooling_mode": "lasttoken"}, "last"),
    ],
)
def test_a_folder_states_its_pooling(tmp_path: Path, settings: dict[str, object], pooling: str) -> None:
    assert stated_pooling(save_modules(tmp_path, ["Transformer", "Pooling", "Normalize"], settings)) == pooling


def test_a_step_after_pooling_is_refused(tmp_path: Path) -> None:
    folder = save_modules(tmp_path, ["Transformer", "Pooling", "Dense"], {"pooling_mode_mean_tokens": True})
    with pytest.raises(UserError, match="Dense"):
        stated_pooling(folder)


def test_a_folder_without_modules_takes_the_mean(tmp_path: Path) -> None:
    assert stated_pooling(tmp_path) == "mean"


@pytest.mark.slow
def test_the_file_has_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, texts = tmp_path / "similar.json", ["A cat sleeps.", "The kitten is napping."]
    assert main(["similar", *texts, "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    assert np.sum(found["table"]) == pytest.approx(found["cosine"], abs=1e-5)
    assert np.shape(found["table"]) == (len(found["tokens_a"]), len(found["tokens_b"]))
    assert found["pooling"] == "mean"
    assert f"{found['cosine']:.3f}" in capsys.readouterr().out
    assert headlight.similar(*texts) == found
    assert headlight.similar(texts[0], texts[0])["cosine"] == pytest.approx(1)


@pytest.mark.slow
def test_an_empty_text_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["similar", "A cat.", " "]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
def test_a_search_equals_brute_force(tmp_path: Path) -> None:
    file, out = tmp_path / "sentences.txt", tmp_path / "hits.json"
    nouns = [f"The {noun} number {at} sleeps." for at in range(50) for noun in ("dog", "car", "cat")]
    file.write_text("\n".join(nouns))
    assert main(["similar", "A cat sleeps.", "--among", str(file), "--top", "5", "--json", str(out)]) == 0
    hits = json.loads(out.read_text())["hits"]
    every = [headlight.similar("A cat sleeps.", noun)["cosine"] for noun in nouns]
    best = sorted(range(len(nouns)), key=lambda at: -every[at])[:5]
    assert [hit["cosine"] for hit in hits] == pytest.approx([every[at] for at in best], abs=1e-5)
    assert {hit["number"] - 1 for hit in hits} == {*best}
    assert all(np.sum(hit["table"]) == pytest.approx(hit["cosine"], abs=1e-5) for hit in hits)


def test_a_command_needs_a_text_or_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["similar", "A cat."]) == 2
    assert capsys.readouterr().err.count("\n") == 1
