"""Requests for the intermediate results of a forward pass, of a layer, and of a pass with changed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from attention.edits import Edit, Pairs, Patch
from attention.mask import FloatArray
from attention.walkthrough import LayerParameters
from i18n import gettext_lazy
from inference.task_heads import BARE
from inference.tasks.model_request import Answer, InspectRequest

Place = tuple[int, ...]

# The parts of a pass, in their order in a model.
EMBEDDINGS, ATTENTION, CROSS = gettext_lazy("embeddings"), gettext_lazy("attention"), gettext_lazy("cross-attention")
FORWARD, NORM, RESIDUAL, SCALE = (
    gettext_lazy("feed-forward"),
    gettext_lazy("norm"),
    gettext_lazy("residual"),
    gettext_lazy("scale"),
)
POOLER, HEAD, PROBABILITIES = gettext_lazy("pooler"), gettext_lazy("head"), gettext_lazy("probabilities")
# Roles of the stages within a part.
QUERIES, KEYS, VALUES = gettext_lazy("queries"), gettext_lazy("keys"), gettext_lazy("values")
WEIGHED, OUT, HIDDEN = gettext_lazy("weighted values"), gettext_lazy("output"), gettext_lazy("hidden")
ACTIVATED = gettext_lazy("after the activation")


@dataclass(frozen=True)
class PassRequest(InspectRequest[Answer]):
    """A request about the forward pass over a text, over a pair, or over a text and its translation.

    ``target`` has the token ids of the translation. ``head`` is the task head with which the model runs.
    """

    text: str = ""
    pair: str | None = None
    target: tuple[int, ...] = ()
    cut: int | None = None
    head: str = BARE

    @property
    def needs(self) -> str:
        """Return the task head with which the model runs."""
        return self.head


@dataclass(frozen=True)
class Stage:
    """A step of a forward pass: a torch call that computes new numbers from weights or earlier results.

    A call that only moves numbers, such as a reshape, is not a stage. NumPy recomputes the whole pass from token ids
    and weights. ``away`` is the largest difference between the results of NumPy and of the model, and ``size`` the
    largest absolute value of the model's result. If NumPy has no formula for the call, ``refused`` is the reason, and
    NumPy continues from the model's result. ``lines`` are PyTorch code that computes the stage from the results of the
    stages in ``reads``.
    """

    number: int
    formula: str  # name of the function in torch
    side: str  # "encoder" or "decoder"
    layer: int | None  # from 0; None outside of layers
    part: str
    role: str
    path: str  # path of the module in the model
    weights: tuple[str, ...]  # names of the weights that it reads
    reads: tuple[int, ...]  # stages that it reads results of
    shape: tuple[int, ...]
    lines: tuple[str, ...]
    away: float
    size: float
    refused: str = ""


@dataclass(frozen=True, eq=False)
class PassOverview:
    """The stages of a whole pass, and PyTorch code (``program``) that stores the result in the variable ``last``.

    ``spread`` has the root mean square of each stage's result, (token,) float32; it is a single number if the result
    has no token axis.
    """

    ids: tuple[int, ...]
    stages: tuple[Stage, ...]
    spread: dict[int, npt.NDArray[np.float32]]
    program: str
    last: str  # variable of the program's last result

    @property
    def largest(self) -> Stage:
        """Return the stage with the largest difference between model and NumPy, relative to the stage's ``size``."""
        return max(self.stages, key=lambda stage: stage.away / max(stage.size, 1e-9) if not stage.refused else -1)

    @property
    def unsupported_stages(self) -> tuple[Stage, ...]:
        """Return the stages that NumPy cannot recompute, because it has no formula for them."""
        return tuple(stage for stage in self.stages if stage.refused)


@dataclass(frozen=True)
class WholePass(PassRequest[PassOverview]):
    """A request for every stage of a pass, without the stages' results; UserError is raised for a long text."""

    ANSWERED_BY: ClassVar[str] = "whole_pass.answer"


@dataclass(frozen=True, eq=False)
class StageResults:
    """The results of some stages in the model's pass, by stage number: float32, read-only, in the model's shapes.

    If a result has an axis over the vocabulary or over classes, ``pieces`` names its largest entries, by index.
    """

    by_stage: dict[int, npt.NDArray[np.float32]]
    pieces: dict[int, str]


@dataclass(frozen=True)
class StageNumbers(PassRequest[StageResults]):
    """A request for the results of the stages whose numbers are in ``stages``."""

    ANSWERED_BY: ClassVar[str] = "whole_pass.number_stage"

    stages: tuple[int, ...] = ()


@dataclass(frozen=True)
class Origin:
    """A factor of a term, and the place from which its number comes.

    The place is the index ``place`` in the result of ``stage`` or in ``weight``. If the factor comes from neither,
    ``name`` describes it.
    """

    value: float
    stage: int | None = None
    weight: str = ""
    place: Place = ()
    name: str = ""


@dataclass(frozen=True)
class Term:
    """A term of a sum: a product of the numbers in ``origins``."""

    value: float
    origins: tuple[Origin, ...]


@dataclass(frozen=True)
class Opened:
    """A number of a stage's result, written as a sum of terms; only the largest terms are listed.

    ``left`` is the number of terms that are not listed, and ``rest`` their sum. Listed terms and ``rest`` sum to
    ``total``, which equals ``value`` up to rounding. ``how`` is the kind of the terms (attention.stages.terms.Terms).
    """

    value: float
    how: str
    formula: str
    terms: tuple[Term, ...]
    left: int
    rest: float
    total: float


@dataclass(frozen=True)
class OneNumber(PassRequest[Opened]):
    """A request for the ``top`` largest terms of the number at ``place`` in the result of ``stage``."""

    ANSWERED_BY: ClassVar[str] = "whole_pass.open_number"

    stage: int = 0
    place: Place = ()
    top: int = 12


@dataclass(frozen=True, eq=False)
class LayerAnswer:
    """A layer's input, parameters and output for a text; all arrays are float32 and read-only.

    attention.walkthrough.trace_layer_steps recomputes the layer from them. ``largest`` and ``mean`` are the largest and
    the mean difference between this result and the model's ``output``, over the last ``compared`` tokens. ``size`` is
    the largest absolute value of ``output`` at these tokens, for comparison.
    """

    ids: tuple[int, ...]  # token ids of the source
    stream: FloatArray  # (token, channel): the residual stream before the attention
    memory: FloatArray | None  # (key, channel): the encoder's output, for cross-attention
    wiring: LayerParameters
    output: FloatArray  # (token, channel): the model's own output, at the place that wiring.ends names
    names: dict[str, str]  # module paths of "query", "key", "value", "output", "before" and "closing"
    largest: float
    mean: float
    size: float
    compared: int  # number of tokens


@dataclass(frozen=True)
class LayerQuestion(InspectRequest[LayerAnswer]):
    """A request for the input, the weights and the output of a layer's attention.

    ``part`` names the stack ("encoder", "decoder" or "cross"). ``target`` has the decoder's tokens for an
    encoder-decoder. ``cut`` is the number of tokens of the text to keep. UserError is raised if the attention of the
    architecture cannot be identified, or cannot be reproduced from its weights.
    """

    ANSWERED_BY: ClassVar[str] = "layer.answer"

    text: str = ""
    pair: str | None = None
    target: tuple[int, ...] = ()
    cut: int | None = None
    part: str = "encoder"
    layer: int = 0


@dataclass(frozen=True)
class End:
    """A value of the model's output at the requested token, before and after the change."""

    name: str  # the token or class if the number is its probability, else the index
    before: float
    after: float


@dataclass(frozen=True)
class ChangeResult:
    """The output of a pass at a token, before and after a change of intermediate values.

    ``ends`` lists the largest entries of the output (such as logits of tokens) before the change, then the largest
    entries after it. ``changed`` is the number of changed values of the stage, 0 for a request with ``edits``.
    ``moved`` is the largest absolute change of any entry.
    """

    ends: tuple[End, ...]
    changed: int
    moved: float


@dataclass(frozen=True)
class ChangeRequest(PassRequest[ChangeResult]):
    """A request to change the result of a stage, or to apply ``edits``, and to compare the outputs before and after.

    The change affects the whole result, its row ``row``, or the number at ``row`` and ``column``, counted as in
    attention.stages.terms. The new value is ``to``. If ``lender`` is a donor text, new values are copied from its pass
    instead, at the token pairs ``pairs`` (token of this text, donor token). If ``edits`` are given (ablations, patches
    and others of attention.edits), no stage is changed. ``at`` is the row of the output that is reported.
    """

    ANSWERED_BY: ClassVar[str] = "changed_pass.answer"

    stage: int = 0
    row: int | None = None
    column: int | None = None
    to: float = 0.0
    lender: str = ""
    pairs: Pairs = ()
    edits: tuple[Edit | Patch, ...] = ()
    at: int = 0
