"""Requests for the terms of a head's scores on labelled links, and for its query and key vectors."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import ClassVar

from attention.annotations import AnnotatedText
from attention.score_terms import Numbers
from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True, eq=False)
class TextScores:
    """The scores of a head between the words of a text, and their terms for the text's links.

    A word is represented by its first token. Entries are NaN for words without tokens, and for keys that the mask hides
    from the query. In direction 0, the source of a link is the query and its target the key; direction 1 is the
    reverse.
    """

    queries: Numbers  # (unit, channel), as the head multiplies them
    keys: Numbers  # (unit, channel)
    scores: Numbers  # (unit, unit): a row for each query, before the softmax
    excess: Numbers  # (link, direction): the score minus its mean over all tokens that the query can see
    query_terms: Numbers  # (link, direction, source): the centred terms of each source of the query; they sum to excess
    key_terms: Numbers  # (link, direction, source): the same for the sources of the key


@dataclass(frozen=True, eq=False)
class LabelledScoresAnswer:
    """The scores of a head in some texts; an entry is None for a text that the model cannot read.

    ``reason`` is the error message for the last of these texts, or "". ``error`` is the largest difference between a
    score and the sum of its terms, relative to scores above 1.
    """

    query_sources: tuple[str, ...]
    key_sources: tuple[str, ...]
    texts: tuple[TextScores | None, ...]
    reason: str
    error: float


@dataclass(frozen=True)
class LabelledScoresRequest(InspectRequest[LabelledScoresAnswer]):
    """A request for the scores of a head on the links of some tens of texts.

    In an encoder-decoder, ``layer`` and ``head`` count those of the encoder.
    """

    ANSWERED_BY: ClassVar[str] = "labelled_scores.answer"

    items: tuple[AnnotatedText, ...] = ()
    layer: int = 0
    head: int = 0

    @property
    def key(self) -> str:
        """Return a key of the request that is the same on every machine, computed faster than by the base class."""
        asked = [[item.text, item.units, [list(asdict(link).values()) for link in item.links]] for item in self.items]
        stated = json.dumps([self.model, self.revision, self.layer, self.head, asked], separators=(",", ":"))
        return f"{type(self).__name__}:{hashlib.sha256(stated.encode()).hexdigest()}"
