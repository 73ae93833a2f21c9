"""Hidden states equal to those of transformers, and quantities derived from them by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attention.vectors import along_levels, cosine, different_words, merge, mix, nearest_neighbors, pca, pool
from inference import EMBEDDED, LocalBackend, UserError
from inference.runners import hidden_states as answers
from inference.settings import Settings
from inference.tasks.hidden_states import HiddenStates, Pooled
from tests.support import tinymodels
from tests.support.cases import loop_over

KINDS = ["bert", "roberta", "gpt2", "llama", "t5", "marian", "deberta"]
TEXTS = ("The cat sat on the mat.", "It was too tired, and the animal didn't play!", "cat")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for kind in KINDS:
        tinymodels.save(root / kind, kind)
    return root


@pytest.fixture(scope="module")
def backend(folders: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(folders,)))


def expected(folder: Path, text: str) -> np.ndarray:
    """Return the hidden states of transformers with eager attention, shape (level, token, channel)."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(str(folder), attn_implementation="eager").eval()
    model = model.get_encoder() if model.config.is_encoder_decoder else model
    ids = AutoTokenizer.from_pretrained(str(folder))(text, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        states = model(input_ids=ids, output_hidden_states=True).hidden_states
    return torch.stack(states)[:, 0].numpy()


@pytest.mark.slow
@loop_over("kind", KINDS)
def test_hidden_states_are_transformers_own(backend: LocalBackend, folders: Path, kind: str) -> None:
    found = backend.inspect(HiddenStates(model=str(folders / kind), text=TEXTS[1]))
    wanted = expected(folders / kind, TEXTS[1])
    assert found.levels.shape == wanted.shape == (4 if kind == "t5" else 3, len(found.row), 24)
    np.testing.assert_allclose(found.levels, wanted, atol=1e-5)
    assert not found.levels.flags.writeable


@pytest.mark.slow
def test_hidden_states_of_the_embedded_model(backend: LocalBackend) -> None:
    from inference.files import embedded

    found = backend.inspect(HiddenStates(text=TEXTS[1]))
    np.testing.assert_allclose(found.levels, expected(embedded.folder(), TEXTS[1]), atol=1e-5)


@loop_over("kind", KINDS)
def test_a_batch_equals_single_texts_and_padding_does_not_matter(
    backend: LocalBackend, folders: Path, kind: str
) -> None:
    loaded = backend.loaded(str(folders / kind), None)
    readings = [loaded.reader.read(text, None, None) for text in TEXTS]
    assert len({len(reading.row) for reading in readings}) == 3
    together = answers.hidden_states(loaded, readings)
    for reading, levels in zip(readings, together, strict=True):
        np.testing.assert_allclose(levels, answers.hidden_states(loaded, [reading])[0], atol=1e-5)


def test_pooled_is_the_mean_by_hand(backend: LocalBackend) -> None:
    found = backend.inspect(Pooled(texts=TEXTS))
    for text, vector, tokens in zip(TEXTS, found.vectors, found.tokens, strict=True):
        levels = backend.inspect(HiddenStates(text=text)).levels
        assert tokens == levels.shape[1]
        by_hand = sum(levels[-1, token] for token in range(tokens)) / tokens
        np.testing.assert_allclose(vector, by_hand, atol=1e-5)


@loop_over(("how", "level"), [("second", 0), ("concat4", 0), ("level", 2)])
@loop_over("pooling", ["words", "first", "max"])
def test_pooled_takes_every_mix_and_pooling(backend: LocalBackend, how: str, level: int, pooling: str) -> None:
    found = backend.inspect(Pooled(texts=TEXTS[:2], mix=how, level=level, pooling=pooling))
    states = backend.inspect(HiddenStates(text=TEXTS[1]))
    wanted = pool(mix(states.levels, how, level), states.row.special, pooling)
    np.testing.assert_allclose(found.vectors[1], wanted, atol=1e-5)


@pytest.mark.slow
def test_one_text_that_cannot_be_read_does_not_stop_the_others(backend: LocalBackend) -> None:
    found = backend.inspect(Pooled(texts=("a cat", "bell \x07", "\u200b", "word " * 600)))
    assert (found.vectors[1:3] == 0).all()
    assert (np.abs(found.vectors[[0, 3]]).max(axis=1) > 0.1).all()
    assert found.cut == (False, False, False, True)
    assert found.tokens[1:] == (0, 0, 512)
    assert "control character U+0007" in found.refused[1]
    assert "reads nothing" in found.refused[2]
    assert found.refused[0] == found.refused[3] == ""


def test_vectors_that_would_fill_the_memory_are_refused_with_a_way_out(
    backend: LocalBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MOST_BYTES", 4 * 7 * 384 * 9)
    with pytest.raises(UserError, match=r"11 tokens.* 9\b") as refused:
        backend.inspect(HiddenStates(text="One two three four five six seven eight."))
    assert (refused.value.way_out, refused.value.details["limit"]) == ("cut", 9)
    assert backend.inspect(HiddenStates(text="One two three four five six seven eight.", cut=9)).levels.shape[1] == 9


def test_a_similar_sentence_is_nearer_than_another(backend: LocalBackend) -> None:
    texts = ("A man is playing a guitar.", "Somebody plays an instrument.", "The stock market fell on Monday.")
    likeness = cosine(*[backend.inspect(Pooled(texts=texts, model=EMBEDDED)).vectors] * 2)
    assert likeness[0, 1] > likeness[0, 2] + 0.2


# --- Cases by hand -----------------------------------------------------------------------------------------------

LEVELS = np.random.default_rng(3).normal(size=(7, 5, 4)).astype(np.float32)


def test_mixes_by_hand() -> None:
    np.testing.assert_array_equal(mix(LEVELS, "last"), LEVELS[6])
    np.testing.assert_array_equal(mix(LEVELS, "second"), LEVELS[5])
    np.testing.assert_array_equal(mix(LEVELS, "level", 0), LEVELS[0])
    np.testing.assert_allclose(mix(LEVELS, "sum4"), LEVELS[3] + LEVELS[4] + LEVELS[5] + LEVELS[6], rtol=1e-6)
    np.testing.assert_allclose(mix(LEVELS, "mean"), sum(LEVELS[1:]) / 6, rtol=1e-5)
    joined = mix(LEVELS, "concat4")
    assert joined.shape == (5, 16)
    np.testing.assert_array_equal(joined[2], np.concatenate([LEVELS[3, 2], LEVELS[4, 2], LEVELS[5, 2], LEVELS[6, 2]]))


def test_a_model_of_few_layers_has_fewer_than_four_to_mix() -> None:
    np.testing.assert_allclose(mix(LEVELS[:3], "sum4"), LEVELS[1] + LEVELS[2], rtol=1e-6)
    assert mix(LEVELS[:3], "concat4").shape == (5, 8)


def test_unknown_ways_are_refused() -> None:
    with pytest.raises(ValueError, match=r"level 7\b.* 0 to 6"):
        mix(LEVELS, "level", 7)
    with pytest.raises(ValueError, match='as "first"'):
        mix(LEVELS, "first")
    with pytest.raises(ValueError, match='as "median"'):
        pool(LEVELS[0], [False] * 5, "median")
    with pytest.raises(ValueError, match="tokens only"):
        pool(LEVELS[0], [True] * 5, "words")
    with pytest.raises(ValueError, match="two different"):
        different_words(LEVELS, ["a"] * 5)


def test_merge_is_the_mean_of_neighbours() -> None:
    merged = merge(LEVELS[0], [(1, 2), (2, 5)])
    np.testing.assert_allclose(merged[1], (LEVELS[0, 2] + LEVELS[0, 3] + LEVELS[0, 4]) / 3, rtol=1e-5)
    np.testing.assert_array_equal(merged[0], LEVELS[0, 1])


def test_cosine_by_hand_and_its_laws() -> None:
    rows, columns = LEVELS[0], LEVELS[1, :3]
    likeness = cosine(rows, columns)
    assert likeness.shape == (5, 3)
    by_hand = rows[4] @ columns[2] / np.sqrt((rows[4] @ rows[4]) * (columns[2] @ columns[2]))
    assert likeness[4, 2] == pytest.approx(by_hand, abs=1e-6)
    np.testing.assert_allclose(cosine(rows, 7 * columns), likeness, atol=1e-6)
    np.testing.assert_allclose(np.diag(cosine(rows, rows)), 1, atol=1e-6)
    np.testing.assert_allclose(cosine(rows, rows), cosine(rows, rows).T, atol=1e-6)


def test_pca_of_a_cross() -> None:
    """Four points on a cross with arms of length 3 and 1: the axes are its arms, with shares of 0.9 and 0.1."""
    points = np.array([[3, 0, 5], [-3, 0, 5], [0, 1, 5], [0, -1, 5]], dtype=np.float32)
    flat = pca(points, 3)
    np.testing.assert_allclose(flat.points, [[3, 0, 0], [-3, 0, 0], [0, 1, 0], [0, -1, 0]], atol=1e-6)
    np.testing.assert_allclose(flat.shares, [0.9, 0.1, 0], atol=1e-6)


@pytest.mark.parametrize("shape", [(40, 6), (6, 40), (2, 40), (1, 3)])
def test_pca_keeps_distances_and_equals_the_singular_vectors(shape: tuple[int, int]) -> None:
    points = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    flat = pca(points, min(shape))
    centred = points - points.mean(axis=0)
    sizes = np.linalg.svd(centred.astype(np.float64), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(flat.points, axis=0), sizes, atol=1e-4)
    # All axes together are a rotation, so every distance is preserved.
    np.testing.assert_allclose(flat.points @ flat.points.T, centred @ centred.T, atol=1e-3)
    if shape[0] > 1:
        assert flat.shares.sum() == pytest.approx(1, abs=1e-5)
        assert (np.diff(flat.shares) <= 1e-6).all()


def test_pca_of_one_point_many_times_is_nothing() -> None:
    flat = pca(np.full((5, 8), 2.5, dtype=np.float32), 2)
    np.testing.assert_array_equal(flat.points, np.zeros((5, 2)))
    np.testing.assert_array_equal(flat.shares, [0, 0])


def test_nearest_in_blocks_is_nearest_at_once() -> None:
    points = np.random.default_rng(2).normal(size=(101, 6)).astype(np.float32)
    wanted = np.random.default_rng(4).normal(size=6).astype(np.float32)
    likeness = cosine(points, wanted[None])[:, 0]
    for block in (1, 7, 101, 1000):
        places, cosines = nearest_neighbors(points, wanted, 10, block)
        assert places.tolist() == np.argsort(-likeness, kind="stable")[:10].tolist()
        np.testing.assert_allclose(cosines, likeness[places], atol=1e-6)
    assert len(nearest_neighbors(points, wanted, 500)[0]) == 101


def test_a_word_through_the_levels() -> None:
    one, other = LEVELS[:, 1], LEVELS[:, 3]
    np.testing.assert_allclose(
        along_levels(one, other), [cosine(LEVELS[i], LEVELS[i])[1, 3] for i in range(7)], atol=1e-6
    )


def test_the_baseline_is_the_mean_over_pairs_of_different_words() -> None:
    names = ["a", "b", "a", "c", "b"]
    likeness = cosine(LEVELS[2], LEVELS[2])
    pairs = [likeness[i, j] for i in range(5) for j in range(i) if names[i] != names[j]]
    assert len(pairs) == 8
    assert different_words(LEVELS, names)[2] == pytest.approx(np.mean(pairs), abs=1e-6)
