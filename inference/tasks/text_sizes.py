"""The numbers of tokens and of unknown tokens in texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from inference.task_heads import TOKENIZER
from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True, eq=False)
class TokenCounts:
    """The number of tokens of each text, with special tokens, and of its unknown tokens: both (text,)."""

    tokens: NDArray[np.int32]
    unknown: NDArray[np.int32]


@dataclass(frozen=True)
class TextSizes(InspectRequest[TokenCounts]):
    """A request for the sizes of many texts; needs the tokenizer only, not the weights."""

    ANSWERED_BY: ClassVar[str] = "text_sizes"
    HEAD: ClassVar[str] = TOKENIZER

    texts: tuple[str, ...] = ()
