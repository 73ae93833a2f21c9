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
    """A causal check of a source: how far the excess of the score falls if the source is removed.

    ``predicted`` is the sum of the source's centred terms; ``measured`` removes the source from the input of that side
    of the head alone, with new statistics in the norms. The excess of a score is the score minus the mean score of the
    visible keys. ``side`` is the query or the key.
    """

    side: str  # "query" or "key"
    source: str
    predicted: float
    measured: float

    @property
    def differs(self) -> bool:
        """Return True if prediction and measurement differ by more than a fifth of the larger value.

        >>> SourceCheck("key", "token", 1.0, 0.7).differs, SourceCheck("key", "token", 1.0, 0.9).differs
        (True, False)
        """
        return abs(self.predicted - self.measured) > DIFFERS * max(abs(self.predicted), abs(self.measured))


@dataclass(frozen=True, eq=False)
class ScoreAnswer:
    """The terms of a score, and the checks of its largest sources.

    ``mean_over_keys`` is the mean score of the keys that the query can see; ``error`` is the difference between the
    sum of the terms and the score.
    """

    ids: tuple[int, ...]  # tokens of the text; empty for other inputs
    score: float
    mean_over_keys: float
    terms: ScoreTerms
    error: float
    checks: tuple[SourceCheck, ...]


@dataclass(frozen=True)
class ScoreRequest(InspectRequest[ScoreAnswer]):
    """A request for the terms of the score of ``key_token`` for ``query_token``, in a head of a stack.

    ``checks`` sources of each side are removed in turn, those with the largest centred terms first, and a control
    follows. ``part`` is "encoder", "decoder" or "cross", "" for the stack of a model with a single stack. ``target``
    has the decoder's tokens of an encoder-decoder; ``cut`` is as in a TraceRequest.
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

    ``picture`` and ``side`` are as in a TraceRequest. ``text`` and the other fields of texts are ignored, and so is
    ``part``: in a model with two towers, the score is that of the picture's tower.
    """

    ANSWERED_BY: ClassVar[str] = "score_decomposition.answer_picture"
    SEES: ClassVar[bool] = True

    picture: Picture | None = None
    side: int | None = None
