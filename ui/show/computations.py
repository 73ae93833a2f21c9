"""Computations of figures that several views show, for their notebooks."""

from __future__ import annotations

from collections.abc import Sequence

from attention.view import flow
from inference import TraceRequest
from viz.paper.notebook import Computation


def flow_computation(request: TraceRequest, queries: Sequence[int], keys: Sequence[int]) -> Computation:
    """Return the computation of each head's attention from the tokens ``queries`` to the tokens ``keys``."""
    code = "numbers = flow(backend.trace(request), queries, keys)"
    return Computation(code, request=request, queries=list(queries), keys=list(keys), flow=flow)
