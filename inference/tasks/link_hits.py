"""Which annotated links the heads of a model find: whether each looks, of all that competes, most at the right word."""

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
    """What was found, for every link of every item, in their order."""

    found: BoolArray  # (link, direction, layer, head); directions as in attention.annotations
    read: (
        BoolArray  # (link,): False where the model could not read the text or one of the words; nothing is found there
    )
    skipped: int  # items whose text the model could not read
    reason: str  # why, of the last of these; "" where there are none
    unknown: int = 0  # of these items, those with too many tokens that the model does not know


@dataclass(frozen=True)
class LinksQuestion(InspectRequest[LinksAnswer]):
    """Some items for one model, some tens at a time: what they take in memory is what their forward passes take.

    Of an encoder-decoder its encoder answers. A text that cannot be read does not stop the others.
    """

    ANSWERED_BY: ClassVar[str] = "link_hits"

    items: tuple[AnnotatedText, ...] = ()

    @property
    def key(self) -> str:
        """As of any question, but made without walking through every link as a dataclass: thousands are asked for."""
        asked = [
            [item.text, item.units, [(link.source, link.target, link.others) for link in item.links]]
            for item in self.items
        ]
        stated = json.dumps([self.model, self.revision, asked], separators=(",", ":"))
        return f"{type(self).__name__}:{hashlib.sha256(stated.encode()).hexdigest()}"


@dataclass(frozen=True)
class RandomLinksQuestion(LinksQuestion):
    """The same asked of the same architecture with random weights: what structure alone finds."""

    HEAD: ClassVar[str] = RANDOM
