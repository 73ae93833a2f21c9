"""One pass from ids to probabilities, stage by stage; the numbers of some stages; one number opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from i18n import gettext_lazy
from inference.task_heads import BARE
from inference.tasks.model_request import Answer, InspectRequest

Place = tuple[int, ...]

# The parts of a pass, in the order in which a model has them.
EMBEDDINGS, ATTENTION, CROSS = gettext_lazy("embeddings"), gettext_lazy("attention"), gettext_lazy("cross-attention")
FORWARD, NORM, RESIDUAL, SCALE = (
    gettext_lazy("feed-forward"),
    gettext_lazy("norm"),
    gettext_lazy("residual"),
    gettext_lazy("scale"),
)
POOLER, HEAD, PROBABILITIES = gettext_lazy("pooler"), gettext_lazy("head"), gettext_lazy("probabilities")
# What one stage of a part is for, where its part does not say all.
QUERIES, KEYS, VALUES = gettext_lazy("queries"), gettext_lazy("keys"), gettext_lazy("values")
WEIGHED, OUT, HIDDEN = gettext_lazy("weighed values"), gettext_lazy("output"), gettext_lazy("hidden")
ACTIVATED = gettext_lazy("after the activation")


@dataclass(frozen=True)
class PassRequest(InspectRequest[Answer]):
    """A text, or two, or a text and the tokens of its ``target``, read with one of the model's heads."""

    text: str = ""
    pair: str | None = None
    target: tuple[int, ...] = ()
    cut: int | None = None
    head: str = BARE

    @property
    def needs(self) -> str:
        """The head that the reader asks for."""
        return self.head


@dataclass(frozen=True)
class Stage:
    """One function that the model computes of numbers that come from its weights; moving numbers about is none.

    ``away`` is the largest difference between the model's result and numpy's, which knows ids and weights alone and
    goes on from its own results; ``size`` is the largest number of the result. ``unsupported_stages`` says in words
    why there is
    no formula, and numpy then goes on from the model's own. ``lines`` are of PyTorch, from the results of ``reads`` on.
    """

    number: int
    formula: str  # torch's name of it
    side: str  # "encoder" or "decoder"
    layer: int | None  # from 0; None outside of layers
    part: str
    role: str
    path: str  # the module's in the model
    weights: tuple[str, ...]  # tensors of the file that it takes, by name
    reads: tuple[int, ...]  # stages whose results it takes
    shape: tuple[int, ...]
    lines: tuple[str, ...]
    away: float
    size: float
    refused: str = ""


@dataclass(frozen=True, eq=False)
class PassOverview:
    """A whole pass. ``program`` is all of it in PyTorch: run from its first line to its last, it gives ``last``.

    ``spread`` has for each stage the root mean square of what it gives each token, (token,) float32; of what is of no
    token, one number.
    """

    ids: tuple[int, ...]
    stages: tuple[Stage, ...]
    spread: dict[int, npt.NDArray[np.float32]]
    program: str
    last: str  # how the program calls its last result

    @property
    def largest(self) -> Stage:
        """The stage whose result differs most from numpy's, as a share of its largest number."""
        return max(self.stages, key=lambda stage: stage.away / max(stage.size, 1e-9) if not stage.refused else -1)

    @property
    def unsupported_stages(self) -> tuple[Stage, ...]:
        """The stages that there is no formula for."""
        return tuple(stage for stage in self.stages if stage.refused)


@dataclass(frozen=True)
class WholePass(PassRequest[PassOverview]):
    """Asks for every stage of a pass, without its numbers. Refused for a long text, in one sentence."""

    ANSWERED_BY: ClassVar[str] = "whole_pass"


@dataclass(frozen=True, eq=False)
class StageResults:
    """The model's own results of some stages, by stage; float32, read-only, in the shape that the model keeps them.

    ``pieces`` names what has the largest numbers, where a result has one for each piece of the vocabulary or class.
    """

    by_stage: dict[int, npt.NDArray[np.float32]]
    pieces: dict[int, str]


@dataclass(frozen=True)
class StageNumbers(PassRequest[StageResults]):
    """Asks for the results of the stages of these numbers."""

    ANSWERED_BY: ClassVar[str] = "stage_numbers"

    stages: tuple[int, ...] = ()


@dataclass(frozen=True)
class Origin:
    """A number that a term is made of, and where it stands: in a stage's result, in a weight of the file, or nowhere
    but in ``name``, which says what it is."""

    value: float
    stage: int | None = None
    weight: str = ""
    place: Place = ()
    name: str = ""


@dataclass(frozen=True)
class Term:
    """One term of a sum and what it is made of."""

    value: float
    origins: tuple[Origin, ...]


@dataclass(frozen=True)
class Opened:
    """A number and its largest terms. ``rest`` is the sum of the ``left`` others, so that terms and rest add up to
    ``total``, which is ``value`` but for the last bits. ``how`` as in attention.stages.terms."""

    value: float
    how: str
    formula: str
    terms: tuple[Term, ...]
    left: int
    rest: float
    total: float


@dataclass(frozen=True)
class OneNumber(PassRequest[Opened]):
    """Asks for the terms of the number at ``place`` of a stage's result, the ``top`` largest one by one."""

    ANSWERED_BY: ClassVar[str] = "number_terms"

    stage: int = 0
    place: Place = ()
    top: int = 12
