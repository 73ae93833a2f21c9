"""How many tokens a model's tokenizer makes of texts, and how many of them it does not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from inference.task_heads import TOKENIZER
from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True, eq=False)
class TokenCounts:
    """Each text's tokens, special ones included, and those of them that are unknown: both (text,)."""

    tokens: NDArray[np.int32]
    unknown: NDArray[np.int32]


@dataclass(frozen=True)
class TextSizes(InspectRequest[TokenCounts]):
    """The sizes of many texts. Needs the tokenizer only, not the weights."""

    ANSWERED_BY: ClassVar[str] = "text_sizes"
    HEAD: ClassVar[str] = TOKENIZER

    texts: tuple[str, ...] = ()
