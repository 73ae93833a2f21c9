"""Annotated links that the heads of a model find.

A head finds a link if the target has the highest attention of all candidates.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import ClassVar

from attention.annotations import AnnotatedText
from attention.mask import BoolArray
from inference.task_heads import RANDOM
from inference.tasks.model_request import InspectRequest


@dataclass(frozen=True, eq=False)
class LinksAnswer:
    """The hits for every link of every item, in their order."""

    found: BoolArray  # (link, direction, layer, head); directions as in attention.annotations
    read: BoolArray  # (link,), False if the model cannot read the text or a word of the link
    skipped: int  # number of items with a text that the model cannot read
    reason: str  # the reason for the last of these items, or ""
    unknown: int = 0  # number of these items with too many unknown tokens


@dataclass(frozen=True)
class LinksQuestion(InspectRequest[LinksAnswer]):
    """A request for the hits of some tens of items; memory use is that of their forward passes.

    In an encoder-decoder, the encoder runs. An unreadable text does not stop the others.
    """

    ANSWERED_BY: ClassVar[str] = "link_hits"

    items: tuple[AnnotatedText, ...] = ()

    @property
    def key(self) -> str:
        """Return the key of the request, computed without traversing thousands of links as dataclasses."""
        asked = [
            [item.text, item.units, [(link.source, link.target, link.others) for link in item.links]]
            for item in self.items
        ]
        stated = json.dumps([self.model, self.revision, asked], separators=(",", ":"))
        return f"{type(self).__name__}:{hashlib.sha256(stated.encode()).hexdigest()}"


@dataclass(frozen=True)
class RandomLinksQuestion(LinksQuestion):
    """The same request for the architecture with random weights, as a baseline."""

    HEAD: ClassVar[str] = RANDOM
