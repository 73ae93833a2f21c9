"""What a model holds of a text after each layer, and one vector for each of many texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from attention.tokens import TokenRow
from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True, eq=False)
class States:
    """Hidden states as transformers' ``output_hidden_states`` gives them, and the tokens that they belong to.

    Level 0 is what enters the first layer, level i what comes out of the i-th; in a model that normalises once more at
    its end (GPT-2, Llama, T5), the last level has passed that too.
    """

    levels: FloatArray  # (level, token, channel), float32
    row: TokenRow


@dataclass(frozen=True)
class HiddenStates(InspectRequest[States]):
    """The vectors of a text's tokens at every level; of an encoder-decoder, the encoder's.

    ``pair`` and ``cut`` as in a TraceRequest. Raises Refusal for a text whose vectors would take too much memory.
    """

    ANSWERED_BY: ClassVar[str] = "hidden_states"

    text: str = ""
    pair: str | None = None
    cut: int | None = None


@dataclass(frozen=True, eq=False)
class TextVectors:
    """One vector per text, and for each text how many tokens were read and what could not be."""

    vectors: FloatArray  # (text, channel), float32; zeros for a text that was refused
    tokens: tuple[int, ...]  # read, special ones included; 0 for a text that was refused
    cut: tuple[bool, ...]  # longer than the model reads: only the beginning counts
    refused: tuple[str, ...]  # the reason, "" for a text that was read


@dataclass(frozen=True)
class Pooled(InspectRequest[TextVectors]):
    """One vector for each of some texts: layers mixed and tokens pooled as attention.vectors says.

    A text that cannot be read does not stop the others.
    """

    ANSWERED_BY: ClassVar[str] = "hidden_states"

    texts: tuple[str, ...] = ()
    mix: str = "last"
    level: int = 0
    pooling: str = "mean"
