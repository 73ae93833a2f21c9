"""How likely is each token of a given translation, and what would come in its place, when heads are removed?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.edits import Edit
from attention.mask import FloatArray
from inference.task_heads import WRITES
from inference.tasks.model_request import PredictRequest


@dataclass(frozen=True, eq=False)
class ForcedSteps:
    """Each step of one given translation under each set of edits, the tokens before it being the given ones.

    ``logs`` is (set, step), float32: natural logarithms of the given tokens' probabilities; ``likeliest`` is (set,
    step), int32: the token that the model puts first there; ``pieces`` the same as shown.
    """

    logs: FloatArray
    likeliest: FloatArray
    pieces: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ForcedTarget(PredictRequest[ForcedSteps]):
    """A translation given token by token, ``written`` as in NextTarget, an end token counted like any other.

    Edits that name later steps than there are do nothing.
    """

    ANSWERED_BY: ClassVar[str] = "teacher_forcing"
    HEAD: ClassVar[str] = WRITES

    text: str = ""
    written: tuple[int, ...] = ()
    cut: int | None = None
    edits: tuple[tuple[Edit, ...], ...] = ((),)
