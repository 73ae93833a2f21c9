"""Attention flow (arXiv:2005.00928): how much can run from a word of the last layer down to each input word?

Layers are stacked as a graph whose pipes are as wide as the attention between two layers; the flow to an input token
is the most that fits through all of them together.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from attention.mask import FloatArray

SCALE = 1_000_000  # the solver counts in whole numbers; an attention of one is this many
MOST_TOKENS = 48  # one solution for each input token, in a graph of tokens² × layers pipes


def flow(mixed: FloatArray, query: int) -> FloatArray:
    """The largest flow from token ``query`` of the last layer to each input token, (key,) float64, from 0 to 1.

    ``mixed`` is (layer, query, key) with the residual stream in it (attention.agreement.with_residual).

    >>> flow(np.array([[[0.5, 0.5], [0.0, 1.0]], [[0.2, 0.8], [0.0, 1.0]]]), 0).round(2).tolist()
    [0.2, 1.0]
    """
    layers, tokens, _ = mixed.shape
    graph = _graph(mixed)
    source = layers * tokens + query
    found = [maximum_flow(graph, source, key).flow_value / SCALE for key in range(tokens)]
    return np.array(found)


def _graph(mixed: FloatArray) -> csr_array:
    """Pipes from each token above to each token below; token t after layer l is node l * tokens + t."""
    layers, tokens, _ = mixed.shape
    layer, query, key = np.nonzero(np.rint(mixed * SCALE))
    widths = np.rint(mixed[layer, query, key] * SCALE).astype(np.int32)
    size = (layers + 1) * tokens
    return csr_array((widths, ((layer + 1) * tokens + query, layer * tokens + key)), shape=(size, size))
