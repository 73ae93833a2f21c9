"""A small random trace of a picture: CLS, a register, and patches with rows ≠ columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from attention.pictures import Grid, Picture
from attention.tokens import TokenRow
from attention.trace import ModelId, Trace
from tests.support.traces import LAYERS, record

ROWS, COLUMNS, START = 3, 5, 2
TOKENS = START + ROWS * COLUMNS


def picture_trace(**changes: Any) -> Trace:
    """Return a trace of a picture of 40 × 24 pixels whose left and right edges are cropped."""
    grid = Grid(ROWS, COLUMNS, START, (5.0, 0.0, 35.0, 24.0))
    places = [f"({row + 1}, {column + 1})" for row in range(ROWS) for column in range(COLUMNS)]
    row = TokenRow(
        ("[CLS]", "[register 1]", *places), (0,) * TOKENS, (None, None, *range(ROWS * COLUMNS)), (0,) * TOKENS,
        (None,) * TOKENS, grid=grid,
    )  # fmt: skip
    pixels = np.random.default_rng(0).integers(0, 256, (24, 40, 3), dtype=np.uint8)
    fields: dict[str, Any] = {
        "id": "picture", "model": ModelId("tiny", None, "encoder", "Dinov2WithRegistersModel"), "text": "",
        "pair": None, "source": row, "target": None, "picture": Picture(pixels),
        "parts": {"encoder": tuple(record(TOKENS, TOKENS, seed=layer) for layer in range(LAYERS))},
    }  # fmt: skip
    return Trace(**{**fields, **changes})
