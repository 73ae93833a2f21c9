"""The sensitivity of a model to the order of the words, with and without its positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from attention.record import AnyRecord
from inference.tasks.model_request import InspectRequest

ROUNDING = 1e-3  # of a weight; a larger difference is not due to rounding
MOST = 256  # tokens; the test computes every head's whole map four times


@dataclass(frozen=True, eq=False)
class OrderPass:
    """The maps of the text and of the reordered tokens in the same model, a record for each layer."""

    text: tuple[AnyRecord, ...]
    mixed: tuple[AnyRecord, ...]
    differences: FloatArray  # (layer, head), reordered text's map against the permuted map (attention.positions)


@dataclass(frozen=True, eq=False)
class OrderTest:
    """The results of the order test."""

    part: str  # the stack that is compared, "encoder" or "decoder"
    order: tuple[int, ...]  # entry i is the original position of token i of the reordered text
    having: OrderPass  # with the model's positions
    lacking: OrderPass  # without positions
    done: tuple[str, ...]  # the methods that removed the positions, each as a sentence
    masks: tuple[str, ...]  # masks that still depend on positions: "causal", "window"
    unmasked: float | None  # largest difference of unmasked scores in the first layer without positions


@dataclass(frozen=True)
class OrderRequest(InspectRequest[OrderTest]):
    """A request to compare the tokens of a text with the same tokens in another order.

    ``text``, ``pair`` and ``cut`` are as in a TraceRequest; ``order`` is a permutation that names the token for
    each place.
    """

    ANSWERED_BY: ClassVar[str] = "order_test"

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    order: tuple[int, ...] = ()
