"""Selection of the best alignment head, on cross-attention set by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerFast

from tests.training.translation.test_model import model, tokenizer  # noqa: F401  (fixtures)
from training.translation.evaluate import ALIGNED, alignment, pieces

SENTENCES = (
    ("The cat sleeps.", "Le chat dort.", (("Le", "The"), ("chat", "cat"), ("dort", "sleeps"))),
    ("My hen isn't here!", "Ma poule n'est pas ici !", (("Ma", "My"), ("poule", "hen"), ("ici", "here"))),
)
LAYERS, HEADS = 2, 3

Fill = Callable[[torch.Tensor, list[list[int]], list[list[int]]], None]


class Planted:
    """A model whose cross-attention ``fill`` sets, from the tokens of each target and source word."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, fill: Fill) -> None:  # noqa: F811
        self.config = SimpleNamespace(decoder_start_token_id=0)
        self.device = torch.device("cpu")
        self._tokenizer, self._fill, self._sentences = tokenizer, fill, iter(SENTENCES)

    def eval(self) -> None: ...

    def train(self) -> None: ...

    def __call__(self, input_ids: torch.Tensor, decoder_input_ids: torch.Tensor, **_named: bool) -> object:
        source, target, words = next(self._sentences)
        weights = torch.zeros(LAYERS, 1, HEADS, decoder_input_ids.shape[1], input_ids.shape[1])
        read, wanted = self._tokenizer(source), self._tokenizer(target)
        self._fill(
            weights,
            [pieces(wanted, target, word) for word, _ in words],
            [pieces(read, source, word) for _, word in words],
        )
        return SimpleNamespace(cross_attentions=tuple(weights))


def test_a_head_that_looks_while_it_writes_is_found(tokenizer: Any) -> None:  # noqa: F811
    def fill(weights: torch.Tensor, targets: list[list[int]], sources: list[list[int]]) -> None:
        for target, source in zip(targets, sources, strict=True):
            weights[1, 0, 2, target[0], source[-1]] = 0.6  # The query before the word predicts token target[0].
            weights[1, 0, 2, target[0], -1] = 0.9  # The end token has a larger weight.
            weights[0, 0, 1, target[0] + 1, source[0]] = 1.0  # This row is the word's own position.

    found = alignment(Planted(tokenizer, fill), tokenizer, SENTENCES)
    assert (found.layer, found.head, found.share, found.with_end) == (1, 2, 1.0, 0.0)
    assert (found.words, found.sentences) == (6, 2)
    assert found.own_place < 0.5


def test_shares_are_shares_of_the_words(tokenizer: Any) -> None:  # noqa: F811
    def fill(weights: torch.Tensor, targets: list[list[int]], sources: list[list[int]]) -> None:
        weights[..., -1] = 0.1
        weights[:, :, :, targets[0][0], sources[1][0]] = 1.0  # This alignment is wrong.
        weights[0, 0, 1, targets[1][0], sources[1][0]] = 1.0
        weights[0, 0, 1, targets[2][0], sources[0][0]] = 1.0  # This alignment is wrong.

    found = alignment(Planted(tokenizer, fill), tokenizer, SENTENCES)
    assert (found.layer, found.head) == (0, 1)
    assert found.share == pytest.approx(1 / 3)
    assert found.with_end == pytest.approx(1 / 3)


def test_a_straight_line_gets_word_by_word_right(tokenizer: Any) -> None:  # noqa: F811
    assert alignment(Planted(tokenizer, lambda *_: None), tokenizer, SENTENCES[:1]).diagonal == 1.0


def test_every_word_aligned_by_hand_is_in_its_sentence_once() -> None:
    for source, target, words in ALIGNED:
        for word, meant in words:
            assert len(re.findall(rf"\b{word}\b", target)) == 1, word
            assert len(re.findall(rf"\b{meant}\b", source)) == 1, meant


def test_a_word_is_not_looked_for_inside_others(tokenizer: Any) -> None:  # noqa: F811
    text = "My cat sleeps at a gate."
    (piece,) = pieces(tokenizer(text), text, "a")
    assert tokenizer(text).encodings[0].offsets[piece] in ((16, 18), (17, 18))


def test_it_reads_a_model_as_it_is(model: Any, tokenizer: Any) -> None:  # noqa: F811
    found = alignment(model, tokenizer)
    assert found.words == sum(len(words) for _, _, words in ALIGNED)
    assert found.layer < LAYERS
    assert found.head < HEADS
    assert model.training
