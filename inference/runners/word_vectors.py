"""Word embeddings of a text, the output for other embeddings, and integrated gradients from zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from inference.record.patching import replacing_output
from inference.record.records import numpy
from inference.tasks.word_influence import WordScores


def word_vectors(model: Any, one: dict[str, Tensor]) -> Tensor:
    """Return the word embeddings of the text, (1, token, channel), before positions are added."""
    with torch.no_grad():
        vectors: Tensor = model.get_input_embeddings()(one["input_ids"])
    return vectors.clone()


def from_vectors(model: Any, one: dict[str, Tensor], vectors: Tensor) -> Any:
    """Return the model's output with embeddings (sample, token, channel) in place of the text's own."""
    many = {name: tensor.expand(len(vectors), *tensor.shape[1:]) for name, tensor in one.items()}
    with replacing_output(model.get_input_embeddings(), lambda _module, _output: vectors):
        return model(**many)


def path_from_zero(number: Callable[[Tensor], Tensor], vectors: Tensor, steps: int, tokens: int) -> WordScores:
    """Return integrated gradients (arXiv:1703.01365) of ``number`` from zero to the embeddings.

    The embeddings ``vectors`` are (1, token, channel). ``number`` takes embeddings (sample, token, channel) and
    returns (sample,). A pass has ``tokens`` tokens, summed over its samples.
    """
    from captum.attr import IntegratedGradients

    values, missed = IntegratedGradients(number).attribute(
        vectors,
        baselines=torch.zeros_like(vectors),
        n_steps=steps,
        method="gausslegendre",
        internal_batch_size=max(1, tokens // vectors.shape[1]),
        return_convergence_delta=True,
    )
    off = float(missed.sum())
    return WordScores(numpy(values.sum(-1)[0]), off, float(values.sum()) - off)
