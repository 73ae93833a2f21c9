"""What the page Why attention lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """What this page lets its reader choose; None means the model's width and the text's length."""

    d: int | None = None
    k: int = 3  # kernel width of the convolution; the paper gives none
    r: int = 64  # tokens that restricted attention sees
    n: int | None = None
