"""The probability of each token of a given translation, and the most probable tokens, under edits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.edits import Edit
from attention.mask import FloatArray
from inference.task_heads import WRITES
from inference.tasks.model_request import PredictRequest


@dataclass(frozen=True, eq=False)
class ForcedSteps:
    """The steps of a given translation under each set of edits, with teacher forcing.

    ``logs`` is (set, step), float32, the log-probabilities of the given tokens; ``likeliest`` is (set, step),
    int32, the most probable tokens; ``pieces`` are the most probable tokens as displayed.
    """

    logs: FloatArray
    likeliest: FloatArray
    pieces: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ForcedTarget(PredictRequest[ForcedSteps]):
    """A request to score a translation token by token; ``written`` is as in NextTarget.

    An end token counts like any other token. Edits of steps that the translation does not have are ignored.
    """

    ANSWERED_BY: ClassVar[str] = "teacher_forcing"
    HEAD: ClassVar[str] = WRITES

    text: str = ""
    written: tuple[int, ...] = ()
    cut: int | None = None
    edits: tuple[tuple[Edit, ...], ...] = ((),)
