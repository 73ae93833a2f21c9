"""The order test through the backend, for every kind of positional encoding."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention.positions import permute_map, shuffle_tokens, swap_words
from inference import LocalBackend, TraceRequest, UserError
from inference.files import embedded
from inference.settings import Settings
from inference.tasks.decoding import NextTarget
from inference.tasks.positions import OrderRequest
from tests.support.cases import loop_over
from tests.support.positionmodels import save

TEXT = "the animal was playing; it was a cat"
FREE = {
    "bert": "Every row of embeddings.position_embeddings.weight (rows × numbers: 40 × 24)",
    "roberta": "Every row of embeddings.position_embeddings.weight (rows × numbers: 42 × 24)",
    "distilbert": "Every row of embeddings.position_embeddings.weight (rows × numbers: 40 × 24)",
    "modernbert": "The angles of rotary_emb.full_attention_inv_freq and 1 similar",
    "t5": "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
    "marian": "Every row of encoder.embed_positions.weight (rows × numbers: 64 × 24)",
}
HELD = {"gpt2": ("causal",), "llama": ("causal",), "windowed": ("window",)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for kind in (*FREE, *HELD, "bloom"):
        save(root / kind, kind)
    return root


@pytest.fixture(scope="module")
def local(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(folder,), cache=tmp_path_factory.mktemp("cache")))


def request(folder: Path, kind: str, **extra: Any) -> Any:
    target = "the cat" if kind in ("t5", "marian") else None
    return TraceRequest(model=str(folder / kind), text=TEXT, target=target, **extra)


def asked(local: LocalBackend, folder: Path, kind: str, seed: int = 3) -> Any:
    """Return the trace, and the order test of a shuffled text."""
    trace = local.trace(request(folder, kind))
    order = shuffle_tokens(trace.source, seed)
    return trace, local.inspect(OrderRequest(model=str(folder / kind), text=TEXT, order=order))


@loop_over("kind", FREE)
def test_without_positions_every_map_follows(local: LocalBackend, folder: Path, kind: Any) -> None:
    trace, test = asked(local, folder, kind)
    assert test.masks == ()
    assert test.lacking.differences.max() <= 1e-5
    assert test.having.differences.max() > 0.02
    assert test.done[0].startswith(FREE[kind])
    assert test.part == "encoder"
    for layer, record in enumerate(test.having.text):
        for head in range(record.heads):
            np.testing.assert_allclose(record.weights(head), trace.weights(layer, head, "encoder"), atol=1e-5)


@pytest.mark.parametrize("kind", HELD)
def test_a_mask_is_named_and_its_doing_is_measured(local: LocalBackend, folder: Path, kind: Any) -> None:
    _, test = asked(local, folder, kind)
    assert test.masks == HELD[kind]
    assert test.lacking.differences.max() > 0.02
    assert test.unmasked < 1e-4


@pytest.mark.slow
@pytest.mark.skipif(not embedded.own_here(embedded.TRANSLATOR), reason="the translator trained here is not there")
def test_a_model_that_has_written_is_asked_too() -> None:
    """The key-value cache stays with the model: the copy without positions starts with an empty cache."""
    local, model = LocalBackend(), embedded.TRANSLATOR
    order = shuffle_tokens(local.trace(TraceRequest(model=model, text=TEXT, target="le")).source, 3)
    local.predict(NextTarget(model=model, text=TEXT))
    test = local.inspect(OrderRequest(model=model, text=TEXT, order=order))
    assert test.lacking.differences.max() <= 1e-5
    assert test.having.differences.max() > 0.02


def test_the_differences_are_those_of_the_maps(local: LocalBackend, folder: Path) -> None:
    _, test = asked(local, folder, "bert")
    for result in (test.having, test.lacking):
        for layer, (here, there) in enumerate(zip(result.text, result.mixed, strict=True)):
            for head in range(here.heads):
                off = np.abs(there.weights(head) - permute_map(here.weights(head), test.order)).max()
                assert result.differences[layer, head] == pytest.approx(off, abs=1e-7)


def test_a_pair_keeps_its_segments(local: LocalBackend, folder: Path) -> None:
    model = str(folder / "bert")
    trace = local.trace(TraceRequest(model=model, text="the cat was", pair="it was playing"))
    order = swap_words(trace.source, 3, 5)
    test = local.inspect(OrderRequest(model=model, text="the cat was", pair="it was playing", order=order))
    assert test.lacking.differences.max() <= 1e-5
    np.testing.assert_allclose(test.having.text[1].weights(2), trace.weights(1, 2), atol=1e-5)


def test_positions_that_cannot_be_taken_away_are_refused(local: LocalBackend, folder: Path) -> None:
    with pytest.raises(UserError, match="BloomModel computes") as caught:
        asked(local, folder, "bloom")
    assert caught.value.way_out == "embedded"


def test_positions_that_stay_behind_are_noticed(
    local: LocalBackend, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a position table is missed, the maps do not follow the tokens, and the test is refused."""
    from inference.anatomy import positions

    monkeypatch.setattr(positions, "_level", lambda _place: None)
    trace = local.trace(request(folder, "distilbert"))
    with pytest.raises(UserError, match="own code"):
        local.inspect(OrderRequest(model=str(folder / "distilbert"), text=TEXT, order=shuffle_tokens(trace.source, 11)))
    with pytest.raises(UserError, match="own code"):
        asked(local, folder, "gpt2", seed=11)


@pytest.mark.parametrize("order", [(), (0, 1), (0, 0, 1, 2)])
def test_an_order_names_every_token_once(local: LocalBackend, folder: Path, order: Any) -> None:
    with pytest.raises(UserError, match="once, from 0 to"):
        local.inspect(OrderRequest(model=str(folder / "bert"), text=TEXT, order=order))


@pytest.mark.slow
def test_a_long_text_is_cut_or_refused(local: LocalBackend) -> None:
    with pytest.raises(UserError, match=r"302 tokens.* 256\b") as caught:
        local.inspect(OrderRequest(text="word " * 300, order=tuple(range(302))))
    assert (caught.value.way_out, caught.value.details["limit"]) == ("cut", 256)
    test = local.inspect(OrderRequest(text="one word " * 300, cut=20, order=(0, 2, 1, *range(3, 20))))
    assert test.lacking.differences.max() <= 1e-5


@pytest.mark.slow
def test_others_read_with_the_model_meanwhile(local: LocalBackend, folder: Path) -> None:
    """Positions are removed from a copy, so concurrent traces are unchanged."""
    trace = local.trace(request(folder, "t5"))
    order = shuffle_tokens(trace.source, 1)
    with ThreadPoolExecutor(4) as pool:
        tests = [
            pool.submit(local.inspect, OrderRequest(model=str(folder / "t5"), text=f"{TEXT}{' it' * n}", order=o))
            for n, o in ((0, order), (0, order[::-1]))
        ]
        texts = [f"{TEXT} {n}" for n in range(6)]
        model = str(folder / "t5")
        many = [pool.submit(local.trace, TraceRequest(model=model, text=text, target="the cat")) for text in texts]
        found = [future.result() for future in many]
        assert all(test.result().lacking.differences.max() <= 1e-5 for test in tests)
    alone = LocalBackend(local.settings)
    for text, trace in zip(texts, found, strict=True):
        again = alone.trace(TraceRequest(model=model, text=text, target="the cat"))
        np.testing.assert_allclose(again.weights(1, 2), trace.weights(1, 2), atol=1e-6)
