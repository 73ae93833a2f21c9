"""The effect of changed intermediate values on the output of a pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.edits import Edit, Pairs, Patch
from inference.tasks.whole_pass import PassRequest


@dataclass(frozen=True)
class End:
    """An output number of the requested token, before and after the change."""

    name: str  # the token or class if the number is its probability, else the index
    before: float
    after: float


@dataclass(frozen=True)
class ChangeResult:
    """The output of a pass with changed intermediate values.

    ``ends`` are the largest numbers before and after, those before first. ``changed`` is the number of changed
    values of the stage, 0 for a request with ``edits``. ``moved`` is the largest difference among all output
    numbers of the token.
    """

    ends: tuple[End, ...]
    changed: int
    moved: float


@dataclass(frozen=True)
class ChangeRequest(PassRequest[ChangeResult]):
    """A request to change a stage's result, or to apply ``edits``, and compare the outputs of the pass.

    The whole result changes, row ``row``, or the number at ``row`` and ``column``, counted as in
    attention.stages.terms. The new value is ``to``. If ``lender`` has a donor text, the new values are those of
    its tokens in ``pairs`` of (here, there). With ``edits``, the pass runs under a set of edits and patches as in
    inference.tasks.edit_effects, and no stage is changed. ``at`` is the row of the output that is reported.
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
