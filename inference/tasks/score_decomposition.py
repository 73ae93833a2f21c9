"""Requests to decompose an attention score into the sources of its query and of its key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.pictures import Picture
from attention.score_terms import ScoreTerms
from inference.tasks.model_request import InspectRequest

DIFFERS = 0.2  # a relative difference of prediction and measurement beyond which a check warns
RANDOM = "random"  # a control: vectors of random direction, as long as those of the largest source


@dataclass(frozen=True)
class SourceCheck:
    """A causal check of a source: the predicted and the measured fall of a score's excess without the source.

    The excess is the score minus the mean score of the keys that the query can see. ``predicted`` is the fall according
    to the terms: the sum of the terms that contain the source, each minus its mean. For ``measured``, the source is
    subtracted from the input of the head's query or key (``side``), and the norms compute new statistics.
    """

    side: str  # "query" or "key"
    source: str
    predicted: float
    measured: float

    @property
    def differs(self) -> bool:
        """Return True if ``predicted`` and ``measured`` differ by more than a fifth of the larger absolute value.

        >>> SourceCheck("key", "token", 1.0, 0.7).differs, SourceCheck("key", "token", 1.0, 0.9).differs
        (True, False)
        """
        return abs(self.predicted - self.measured) > DIFFERS * max(abs(self.predicted), abs(self.measured))


@dataclass(frozen=True, eq=False)
class ScoreAnswer:
    """The terms of a score, and the checks of its largest sources.

    ``mean_over_keys`` is the mean score of the keys that the query can see. ``error`` is the difference between the
    score and the sum of its terms.
    """

    ids: tuple[int, ...]  # tokens of the text; empty for other inputs
    score: float
    mean_over_keys: float
    terms: ScoreTerms
    error: float
    checks: tuple[SourceCheck, ...]


@dataclass(frozen=True)
class ScoreRequest(InspectRequest[ScoreAnswer]):
    """A request for the terms of the score between ``query_token`` and ``key_token``, in a head of a stack.

    For query and key, the ``checks`` sources with the largest terms are removed in turn, and then a random control.
    ``part`` is "encoder", "decoder" or "cross", or "" for a model with a single stack. ``target`` has the decoder's
    tokens of an encoder-decoder. ``cut`` is the number of tokens of the text to keep.
    """

    ANSWERED_BY: ClassVar[str] = "score_decomposition.answer"

    text: str = ""
    pair: str | None = None
    target: tuple[int, ...] = ()
    cut: int | None = None
    part: str = ""
    layer: int = 0
    head: int = 0
    query_token: int = 0
    key_token: int = 0
    checks: int = 5


@dataclass(frozen=True)
class PictureScoreRequest(ScoreRequest):
    """A request for the terms of a score between two tokens of a picture, such as patches.

    If ``side`` is given, the longer side of ``picture`` is scaled to about that many pixels. The inherited fields for
    texts and ``part`` are ignored. In a model of pictures and texts, such as CLIP, the score is from the vision model.
    """

    ANSWERED_BY: ClassVar[str] = "score_decomposition.answer_picture"
    SEES: ClassVar[bool] = True

    picture: Picture | None = None
    side: int | None = None
