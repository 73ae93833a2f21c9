"""Does a model notice that the words of a text have changed places, with and without its positions?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.mask import FloatArray
from attention.record import AnyRecord
from inference.tasks.model_request import InspectRequest

ROUNDING = 1e-3  # of a weight; what is further off than that is no rounding
MOST = 256  # tokens: every head's whole map is compared four times over


@dataclass(frozen=True, eq=False)
class OrderPass:
    """The text and the same tokens in another order, read by one model; a record a layer."""

    text: tuple[AnyRecord, ...]
    mixed: tuple[AnyRecord, ...]
    differences: (
        FloatArray  # (layer, head): the mixed text's map against the text's own map rearranged (attention.positions)
    )


@dataclass(frozen=True, eq=False)
class OrderTest:
    """What came of it."""

    part: str  # "encoder" or "decoder": which attention is compared
    order: tuple[int, ...]  # entry i is the token of the text that stands at place i of the mixed one
    having: OrderPass  # positions as the model has them
    lacking: OrderPass  # positions taken away
    done: tuple[str, ...]  # how they were taken away, a sentence each
    masks: tuple[str, ...]  # what still tells places apart without them: "causal", "window"
    unmasked: float | None  # of the first layer without positions: largest difference of scores before the mask


@dataclass(frozen=True)
class OrderRequest(InspectRequest[OrderTest]):
    """The tokens of a text against the same tokens in another order.

    ``text``, ``pair`` and ``cut`` are as in a TraceRequest; ``order`` names the token for each place, every one once.
    """

    ANSWERED_BY: ClassVar[str] = "order_test"

    text: str = ""
    pair: str | None = None
    cut: int | None = None
    order: tuple[int, ...] = ()
