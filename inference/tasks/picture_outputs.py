"""Requests for predictions from a picture, and for their attribution to patches."""

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
    """The output of a model for a picture under each edit set.

    ``values`` (set, number) float32 are the channels of a vector, or the logits of the labels ``names``. ``sort`` is
    the kind of these labels (inference.tasks.labels), or "" for a vector.
    """

    values: FloatArray
    names: tuple[str, ...]
    sort: str
    row: TokenRow

    @property
    def probabilities(self) -> FloatArray | None:
        """Return the probability of every label in ``names`` under each edit set, shape (set, name) float32.

        Return None if the output is a vector or comes from a regression head.
        """
        logs = log_probabilities(self.values, self.sort) if self.sort else None
        return None if logs is None else np.exp(logs)

    def likeliest(self, most: int, at: int = 0) -> list[tuple[str, float]]:
        """Return the ``most`` most probable names under edit set ``at``, with their probabilities.

        Without probabilities, the names with the largest values are returned, with these values.

        >>> row = TokenRow((), (), (), (), ())
        >>> PictureOutput(np.array([[0.0, 1.0986]], np.float32), ("cat", "dog"), "choice", row).likeliest(1)[0][0]
        'dog'
        """
        found = self.values if self.probabilities is None else self.probabilities
        order = self.values[at].argsort()[::-1][:most]
        return [(self.names[place], float(found[at, place])) for place in order]


@dataclass(frozen=True)
class PictureRequest(PredictRequest[Answer]):
    """A request about a picture.

    If ``side`` is given, the longer side of the picture is scaled to about that many pixels.
    """

    SEES: ClassVar[bool] = True

    picture: Picture | None = None
    side: int | None = None


@dataclass(frozen=True)
class PictureEffects(PictureRequest[PictureOutput]):
    """A request for an output of the vision model for a picture under each edit set.

    Edits are ablations, masked edges and patches (attention.edits).
    """

    ANSWERED_BY: ClassVar[str] = "picture_outputs.answer"

    edits: Sets = ((),)


@dataclass(frozen=True)
class PictureVector(PictureEffects):
    """A request for the vector of a picture under each edit set.

    A model of pictures and texts, such as CLIP, returns the unit vector that it compares with the vectors of texts. A
    vision model returns the last vector of [CLS], or the mean over patches if it has no leading tokens.
    """


@dataclass(frozen=True)
class PictureLabels(PictureEffects):
    """A request for the classes of the picture, from a classification head."""

    HEAD: ClassVar[str] = SEES


@dataclass(frozen=True)
class PictureTexts(PictureEffects):
    """A request for the similarity of each text to the picture: the scaled cosine similarity of their vectors.

    CLIP chooses among the texts (softmax, arXiv:2103.00020); SigLIP gives each text an independent probability
    (sigmoid, arXiv:2303.15343).
    """

    texts: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PatchAttribution:
    """The attribution of a logit to each token of the picture, and of the text if there is a text."""

    row: TokenRow
    patches: FloatArray  # (token,) float32, non-negative
    value: float  # the explained logit
    name: str  # name of the class, or the text
    text_row: TokenRow | None = None
    words: FloatArray | None = None  # (token of the text,) float32


@dataclass(frozen=True)
class AttributionOfPatches(PictureRequest[PatchAttribution]):
    """A request for the attribution of a logit to patches and words, from attention weights times their gradients.

    For each layer, A is the mean over heads of the positive part of weights × gradients. R starts as the identity, and
    R ← R + A R (Chefer, Gur and Wolf, arXiv:2103.15679, equations 5 and 6). The paper takes the row of [CLS] in R. Here
    the result is a mean over all rows. The weight of a row is the norm of the logit's gradient in its token's last
    vector. If the head reads only [CLS], this equals the row of [CLS]; it also covers heads that pool patches.

    If ``text`` is given, the explained logit is the similarity of this text to the picture. Otherwise it is that of
    class ``label``, or of the most probable class if ``label`` is -1.
    """

    ANSWERED_BY: ClassVar[str] = "picture_outputs.attribute_patches"

    text: str | None = None
    label: int = -1

    @property
    def needs(self) -> str:
        """Return the task head: SEES for a class, or BARE if the request has a text."""
        return SEES if self.text is None else BARE
