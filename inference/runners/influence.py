"""Measures of the influence of words on each other: value zeroing, attention flow and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from torch import Tensor

from attention.edits import ZeroValue
from attention.mask import FloatArray
from inference.errors import UserError
from inference.record import edit_hooks
from inference.record.edit_hooks import apply_edits
from inference.record.patching import replacing_output
from inference.record.records import layer_modules, numpy
from inference.tasks.attribution import WordScores

BATCH = 4096  # tokens of a pass, summed over its samples


class _Reached(Exception):
    """Raised if the layer has returned, with its output; the layers above are not needed."""

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.vectors = vectors


def distances(model: Any, one: dict[str, Tensor], layer: int) -> Tensor:
    """Return how much zeroing each token's value changes the vector of each token in a layer, shape (query, key).

    An entry is 1 - the cosine similarity, 0 to 2, of the query token's vectors after the layer, with and without the
    value of the key. Raise UserError if the model's attention cannot be changed, or if the model lacks the layer.
    """
    block = _block(model, layer)
    tokens = one["input_ids"].shape[1]
    step = max(1, BATCH // tokens - 1)
    columns = []
    for start in range(0, tokens, step):
        keys = range(start, min(start + step, tokens))
        vectors = _layer_output(model, block, one, layer, [(), *((ZeroValue(layer, key),) for key in keys)])
        columns.append(cosine_distance(vectors[1:], vectors[:1]))  # (key, query)
    return torch.cat(columns).T.clamp(min=0)


def cosine_distance(changed: Tensor, original: Tensor) -> Tensor:
    """Return 1 - the cosine similarity of vectors, over the last axis, 0 to 2.

    The cosine is computed in float64, since float32 rounds a small distance to multiples of 6e-8.
    """
    distances = 1 - torch.cosine_similarity(changed.double(), original.double(), dim=-1)
    return distances.to(changed.dtype)


def _layer_output(
    model: Any, block: Any, one: dict[str, Tensor], layer: int, sets: list[tuple[ZeroValue, ...]]
) -> Tensor:
    """Return the output of the layer under each set, shape (set, token, channel)."""
    layers = getattr(model, edit_hooks.GROWS, None)
    # Samples differ in this layer only, so they join before it; a model that cannot grow begins with all of them.
    joining = [len(sets) - 1 if at == layer else 0 for at in range(layers or 0)]
    given = one if layers else {name: tensor.expand(len(sets), *tensor.shape[1:]) for name, tensor in one.items()}

    def stop(_module: Any, output: Any) -> None:
        raise _Reached(output[0] if isinstance(output, tuple) else output)

    try:
        with (
            apply_edits(model, sets),
            edit_hooks.grow_batch(joining),
            replacing_output(block, stop),
            torch.inference_mode(),
        ):
            model(**given)
    except _Reached as reached:
        return reached.vectors.float()
    raise UserError(f"Layer {layer} of {type(model).__name__} hands nothing on that could be compared.")


def _block(model: Any, layer: int) -> Any:
    """Return the module of the whole layer; raise UserError if the layer does not exist."""
    paths = next(iter(layer_modules(model).values()))
    if not 0 <= layer < len(paths):
        raise UserError(f"Layer {layer} was asked for; {type(model).__name__} has {len(paths)} layers, counted from 0.")
    return model.get_submodule(paths[layer])


SCALE = 1_000_000  # the solver takes integers; this is the capacity of an attention weight of 1
MOST_TOKENS = 48  # the solver runs for each input token, on a graph of tokens² × layers edges


def flow(mixed: FloatArray, query: int) -> FloatArray:
    """Return the maximum flow of attention from token ``query`` of the last layer to each input token.

    The layers form a network whose capacities are attention weights (arXiv:2005.00928). The result is (key,) float64,
    from 0 to 1. ``mixed`` is (layer, query, key), with the residual stream included by
    attention.agreement.with_residual.

    >>> flow(np.array([[[0.5, 0.5], [0.0, 1.0]], [[0.2, 0.8], [0.0, 1.0]]]), 0).round(2).tolist()
    [0.2, 1.0]
    """
    layers, tokens, _ = mixed.shape
    graph = _graph(mixed)
    source = layers * tokens + query
    found = [maximum_flow(graph, source, key).flow_value / SCALE for key in range(tokens)]
    return np.array(found)


def _graph(mixed: FloatArray) -> csr_array:
    """Return the edges from each token to each token of the layer below.

    Token t after layer l is node l * tokens + t.
    """
    layers, tokens, _ = mixed.shape
    layer, query, key = np.nonzero(np.rint(mixed * SCALE))
    widths = np.rint(mixed[layer, query, key] * SCALE).astype(np.int32)
    size = (layers + 1) * tokens
    return csr_array((widths, ((layer + 1) * tokens + query, layer * tokens + key)), shape=(size, size))


def word_vectors(model: Any, one: dict[str, Tensor]) -> Tensor:
    """Return the word embeddings of the text, shape (1, token, channel), before positions are added."""
    with torch.no_grad():
        vectors: Tensor = model.get_input_embeddings()(one["input_ids"])
    return vectors.clone()


def from_vectors(model: Any, one: dict[str, Tensor], vectors: Tensor) -> Any:
    """Return the model's output for word embeddings (sample, token, channel) instead of token ids.

    ``one`` is the input of a single text; all its other tensors are repeated for every sample.
    """
    many = {name: tensor.expand(len(vectors), *tensor.shape[1:]) for name, tensor in one.items()}
    with replacing_output(model.get_input_embeddings(), lambda _module, _output: vectors):
        return model(**many)


def path_from_zero(number: Callable[[Tensor], Tensor], vectors: Tensor, steps: int, tokens: int) -> WordScores:
    """Return integrated gradients (arXiv:1703.01365) of a score, on the path from zero to the text's embeddings.

    The embeddings ``vectors`` are (1, token, channel). ``number`` computes the score, from embeddings (sample, token,
    channel) to (sample,). ``tokens`` limits the tokens of a pass, summed over its samples.
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
