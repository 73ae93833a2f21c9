"""The translation model compared with transformers: positions, loss, and causal decoding."""

from __future__ import annotations

import pytest
import torch
from transformers import MarianMTModel, PreTrainedTokenizerFast

from tests.support.translationtexts import phrases
from training.translation.config import MarianShape
from training.translation.data import TranslationBatch, laid_out, learn_tokenizer
from training.translation.evaluate import build, loss, read

CPU = torch.device("cpu")
SHAPE = MarianShape(width=24, layers=2, heads=3, inner=40, positions=64)


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return learn_tokenizer((text for pair in phrases() for text in pair), 500, 64)


@pytest.fixture
def model(tokenizer: PreTrainedTokenizerFast) -> MarianMTModel:
    return build(SHAPE, tokenizer, seed=3).eval()


def batch(tokenizer: PreTrainedTokenizerFast) -> TranslationBatch:
    """Return a batch of five pairs of unequal length."""
    some = phrases()[:40:9]
    sides = [tokenizer([pair[side] for pair in some])["input_ids"] for side in (0, 1)]
    return TranslationBatch(laid_out(sides[0], 0), laid_out(sides[1], 0), 0)


def test_loss_is_the_one_that_transformers_computes(model: MarianMTModel, tokenizer: PreTrainedTokenizerFast) -> None:
    given = batch(tokenizer)
    source, target = torch.from_numpy(given.source), torch.from_numpy(given.target)
    assert (target == 0).any()
    expected = model(
        input_ids=source, attention_mask=(source != 0).long(), labels=target.masked_fill(target == 0, -100)
    ).loss.detach()
    with torch.no_grad():
        logits, labels = read(model, given, CPU)
    assert logits.shape == (int((target != 0).sum()), len(tokenizer))
    assert float(loss(logits, labels)) == pytest.approx(float(expected), abs=1e-5)


def test_smoothing_is_a_share_of_the_mean_over_the_vocabulary() -> None:
    logits, labels = torch.tensor([[2.0, 0.0, -1.0], [0.5, 0.5, 3.0]]), torch.tensor([0, 1])
    surprise = -logits.log_softmax(dim=1)
    expected = 0.9 * surprise[[0, 1], labels].mean() + 0.1 * surprise.mean()
    assert float(loss(logits, labels, 0.1)) == pytest.approx(float(expected), abs=1e-6)


def test_a_pairs_padding_changes_nothing(model: MarianMTModel, tokenizer: PreTrainedTokenizerFast) -> None:
    given = batch(tokenizer)
    whole, labels = read(model, given, CPU)
    first = [side[:1, : int((side[0] != 0).sum())] for side in (given.source, given.target)]
    alone, own = read(model, TranslationBatch(first[0], first[1], 0), CPU)
    assert labels[: len(own)].tolist() == own.tolist()
    assert torch.allclose(whole[: len(own)], alone, atol=1e-5)


def test_embeddings_are_one_and_positions_are_not_learned(model: MarianMTModel) -> None:
    shared = model.model.shared.weight
    assert model.lm_head.weight is shared
    assert model.model.encoder.embed_tokens.weight is shared
    assert model.model.decoder.embed_tokens.weight is shared
    learned = {name for name, value in model.named_parameters() if value.requires_grad}
    assert not any("positions" in name for name in learned)
    assert float(shared.detach()[1:].std()) == pytest.approx(SHAPE.spread, rel=0.1)


def test_the_seed_decides(tokenizer: PreTrainedTokenizerFast) -> None:
    one, same, other = (build(SHAPE, tokenizer, seed).model.shared.weight for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
