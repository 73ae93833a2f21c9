"""Requests for hidden states of texts and for their numbers of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.task_heads import TOKENIZER
from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True, eq=False)
class States:
    """Hidden states as transformers' ``output_hidden_states`` returns them, and their tokens.

    Level 0 is the input of the first layer, and level i is the output of the i-th layer. In a model with a final norm
    (GPT-2, Llama, T5), that norm is applied to the last level.
    """

    levels: FloatArray  # (level, token, channel), float32
    row: TokenRow


@dataclass(frozen=True)
class HiddenStates(InspectRequest[States]):
    """A request for the hidden states of a text's tokens after every layer, in the encoder if there is one.

    ``pair`` is a second text, and ``cut`` the number of tokens to keep. UserError is raised for a text whose vectors
    would take too much memory.
    """

    ANSWERED_BY: ClassVar[str] = "hidden_states.answer"

    text: str = ""
    pair: str | None = None
    cut: int | None = None


@dataclass(frozen=True, eq=False)
class TextVectors:
    """A vector for each text, the number of its tokens, and an error message for a text that cannot be read."""

    vectors: FloatArray  # (text, channel), float32; zeros for an unreadable text
    tokens: tuple[int, ...]  # tokens read, with special tokens; 0 for an unreadable text
    cut: tuple[bool, ...]  # True if the text was truncated to the model's limit
    refused: tuple[str, ...]  # the reason, or "" for a readable text


@dataclass(frozen=True)
class Pooled(InspectRequest[TextVectors]):
    """A request for a vector of each text, pooled from its tokens' vectors.

    ``mix`` and ``level`` select the layers (attention.vectors.mix), and ``pooling`` the pooling
    (attention.vectors.pool). A text that the model cannot read gets zeros and an error message.
    """

    ANSWERED_BY: ClassVar[str] = "hidden_states.answer"

    texts: tuple[str, ...] = ()
    mix: str = "last"
    level: int = 0
    pooling: str = "mean"


@dataclass(frozen=True, eq=False)
class TokenCounts:
    """The number of tokens of each text, special tokens included, and the number of unknown tokens, shape (text,)."""

    tokens: NDArray[np.int32]
    unknown: NDArray[np.int32]


@dataclass(frozen=True)
class TextSizes(InspectRequest[TokenCounts]):
    """A request for the numbers of tokens of many texts, which needs the tokenizer but not the weights."""

    ANSWERED_BY: ClassVar[str] = "hidden_states.count_tokens"
    HEAD: ClassVar[str] = TOKENIZER

    texts: tuple[str, ...] = ()
