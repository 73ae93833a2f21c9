"""What becomes of a pass's end if some numbers on the way were others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.edits import Edit, Pairs, Patch
from inference.tasks.whole_pass import PassRequest


@dataclass(frozen=True)
class End:
    """One number that a pass ends with, of the token that is asked about, before and after."""

    name: str  # the piece of the vocabulary, where it is one's probability; else which number it is
    before: float
    after: float


@dataclass(frozen=True)
class ChangeResult:
    """How a pass ends once numbers on the way were changed.

    ``ends`` are the largest before and after, the largest before first; ``changed`` counts the numbers of the stage
    that were changed, 0 where ``edits`` were asked for; ``moved`` is the largest difference among all numbers of that
    token.
    """

    ends: tuple[End, ...]
    changed: int
    moved: float


@dataclass(frozen=True)
class ChangeRequest(PassRequest[ChangeResult]):
    """Changes a stage's result: all of it, row ``row``, or the number at ``row`` and ``column``, counted as
    attention.stages.terms has them. It becomes ``to``; where ``lender`` is another text, what the tokens there of
    ``pairs`` have in the pass over it, (here, there). With ``edits`` heads are changed and things taken as under one of
    the sets of inference.tasks.edit_effects, and no stage. ``at`` is the row of the end that is told.
    """

    ANSWERED_BY: ClassVar[str] = "changed_pass"

    stage: int = 0
    row: int | None = None
    column: int | None = None
    to: float = 0.0
    lender: str = ""
    pairs: Pairs = ()
    edits: tuple[Edit | Patch, ...] = ()
    at: int = 0
