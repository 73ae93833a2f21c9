"""Whole maps of a picture's tokens as square-root bytes: of a head, or of all layers rolled out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.agreement import rollout, shares, with_residual
from attention.codec import frame
from attention.mask import Array
from attention.record import AnyRecord


def head_map(records: Sequence[AnyRecord], layer: int, head: int) -> Array:
    """One head's map, (query, key) float32."""
    return records[layer].quick().weights(head)


def rolled_out(records: Sequence[AnyRecord]) -> Array:
    """What reaches each token of the last layer from each patch and token of the first, (query, key) float32.

    The mean over each layer's heads, half of it what a token hands on to itself (arXiv:2005.00928).
    """
    means = [sum(quick.weights(head) for head in range(quick.heads)) for quick in (one.quick() for one in records)]
    return rollout(with_residual(shares(np.stack(means).astype(np.float32))))


def framed(weights: Array) -> bytes:
    """A map as a frame that picture_source.js reads."""
    return frame({}, {"map": (weights, "sqrt8")})
