"""What a model says of a picture: a vector, a class, how well texts fit it; and on which patches that rests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attention.edits import Edit
from attention.mask import FloatArray
from attention.pictures import Picture
from attention.tokens import TokenRow
from inference.task_heads import BARE, SEES
from inference.tasks.labels import log_probabilities
from inference.tasks.model_request import Answer, PredictRequest

Sets = tuple[tuple[Edit, ...], ...]


@dataclass(frozen=True, eq=False)
class PictureOutput:
    """What is said of a picture under each set of edits.

    ``values`` is (set, what), float32: a vector's channels, or logits of ``names``, meant as ``sort`` says
    (inference.tasks.labels); "" for a vector.
    """

    values: FloatArray
    names: tuple[str, ...]
    sort: str
    row: TokenRow

    @property
    def probabilities(self) -> FloatArray | None:
        """Of every name under each set, (set, name) float32; None for vectors and numbers."""
        logs = log_probabilities(self.values, self.sort) if self.sort else None
        return None if logs is None else np.exp(logs)

    def likeliest(self, most: int, at: int = 0) -> list[tuple[str, float]]:
        """The names of the largest values under a set, with their probabilities, or their values where they are none.

        >>> row = TokenRow((), (), (), (), ())
        >>> PictureOutput(np.array([[0.0, 1.0986]], np.float32), ("cat", "dog"), "choice", row).likeliest(1)[0][0]
        'dog'
        """
        found = self.values if self.probabilities is None else self.probabilities
        order = self.values[at].argsort()[::-1][:most]
        return [(self.names[place], float(found[at, place])) for place in order]


@dataclass(frozen=True)
class PictureRequest(PredictRequest[Answer]):
    """A question about one picture; ``picture`` and ``side`` as in a TraceRequest."""

    SEES: ClassVar[bool] = True

    picture: Picture | None = None
    side: int | None = None


@dataclass(frozen=True)
class PictureEffects(PictureRequest[PictureOutput]):
    """The same under sets of edits of what reads the picture, as in inference.tasks.edit_effects."""

    ANSWERED_BY: ClassVar[str] = "picture_outputs"

    edits: Sets = ((),)


@dataclass(frozen=True)
class PictureVector(PictureEffects):
    """One vector for the picture: of a model for pictures and texts the one that it compares with texts', of length
    one; else the last vector of [CLS], or where there is none the mean of all patches'."""


@dataclass(frozen=True)
class PictureLabels(PictureEffects):
    """The classes of the picture, by the head that was trained for them."""

    HEAD: ClassVar[str] = SEES


@dataclass(frozen=True)
class PictureTexts(PictureEffects):
    """How well each of some texts fits the picture: the cosine of their vectors times the scale that was learned.

    CLIP chooses one of the texts (softmax, arXiv:2103.00020), SigLIP judges each by itself (sigmoid, arXiv:2303.15343).
    """

    texts: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PatchAttribution:
    """What one number rests on: a share for each token of the picture, and of the text where there is one."""

    row: TokenRow
    patches: FloatArray  # (token,) float32, not negative
    value: float  # the logit that is explained
    name: str  # of the class, or the text
    text_row: TokenRow | None = None
    words: FloatArray | None = None  # (token of the text,) float32


@dataclass(frozen=True)
class AttributionOfPatches(PictureRequest[PatchAttribution]):
    """On which patches, and on which words, a logit rests: attention times its gradient, through all layers.

    Of every layer the mean over heads of what is positive in weights × gradients, A, is added up as R ← R + A R from
    R = 1 (Chefer, Gur and Wolf, arXiv:2103.15679, equations 5 and 6). Their answer is the row of [CLS]. Here it is the
    mean of the rows by how long the logit's gradient is in each token's last vector, which is that row where [CLS]
    alone is read, and an answer where patches are pooled.

    ``text`` asks how well it fits the picture; without it, the class ``label`` is asked about, -1 for the likeliest.
    """

    ANSWERED_BY: ClassVar[str] = "patch_attribution"

    text: str | None = None
    label: int = -1

    @property
    def needs(self) -> str:
        """Classes are told by a head, how well a text fits by the bare model."""
        return SEES if self.text is None else BARE
