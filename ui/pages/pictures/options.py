"""What the page Pictures lets its reader choose. The picture itself is in the session alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from viz.components.picture.content import FACINGS, KINDS
from wording import sentence

SHOWS = {
    "picture": sentence("On the picture"),
    "matrix": sentence("Matrix and lines"),
    "says": sentence("What the model says"),
}
SIDES = (0, 224, 336, 448)  # pixels of the longer side at which a picture is read whole; 0: as the model's processor


@dataclass(frozen=True)
class Pictures:
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS),
        "facing": FACINGS,
        "by": KINDS,
    }
    # Names that the shared choice has for texts.
    KEYS: ClassVar[Mapping[str, str]] = {
        "layer": "of_layer",
        "head": "of_head",
        "facing": "look",
        "by": "shown",
        "revision": "commit",
    }

    vision: str = ""  # the model; "" for what was recorded of the sample, else the first that is at hand
    revision: str = ""
    given: str = ""  # the beginning of the key of the reader's own picture; "" for the sample
    side: int = 0
    show: str = "picture"
    layer: int | None = None
    head: int | None = None
    token: int | None = None
    facing: str = "out"
    by: str = "head"
    texts: str = "a photo of a cat\na photo of a dog\na photo of a house"  # for models that compare
