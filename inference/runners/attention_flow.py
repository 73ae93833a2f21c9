"""Attention flow (arXiv:2005.00928): maximum flow from a token of the last layer to each input token.

The layers form a graph, and the capacities of its edges are the attention weights between two layers.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from attention.mask import FloatArray

SCALE = 1_000_000  # the solver takes integers; this is the capacity of an attention weight of 1
MOST_TOKENS = 48  # the solver runs for each input token, on a graph of tokens² × layers edges


def flow(mixed: FloatArray, query: int) -> FloatArray:
    """Return the maximum flow from token ``query`` of the last layer to each input token.

    The result is (key,) float64, from 0 to 1. ``mixed`` is (layer, query, key) with the residual stream included
    (attention.agreement.with_residual).

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
