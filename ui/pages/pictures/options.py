"""Options of the Pictures page, as they appear in its address, without the picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from attention.patch_roles import PATCH_ROLES
from i18n import gettext_lazy
from viz.components.picture.content import FACINGS, KINDS

SHOWS = {
    "picture": gettext_lazy("On the picture"),
    "matrix": gettext_lazy("Matrix and lines"),
    "says": gettext_lazy("What the model says"),
    "without": gettext_lazy("Without a part"),
    "links": gettext_lazy("Two regions"),
    "roles": gettext_lazy("What heads are for"),
    "beside": gettext_lazy("Beside another"),
}
ASKING = ("says", "without", "beside")  # Views that need a model.
WATCHES = {
    "vector": gettext_lazy("The picture's vector"),
    "class": gettext_lazy("Its likeliest class"),
    "text": gettext_lazy("How well a text fits"),
}
BESIDES = {
    "mirrored": gettext_lazy("The picture mirrored"),
    "sample": gettext_lazy("The sample"),
    "brought": gettext_lazy("Another picture"),
    "model": gettext_lazy("Another model"),
}
SIDES = (0, 224, 336, 448)  # Pixels of the longer side without cropping; 0 for the model's processor.


# Defaults of the options that refer to places in a picture or a model, for a change of either.
ELSEWHERE: Mapping[str, Any] = {
    "layer": None,
    "head": None,
    "token": None,
    "edits": "",
    "looks": None,
    "one": "",
    "other": "",
}


@dataclass(frozen=True)
class PicturesOptions:
    """Options of the Pictures page."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS),
        "facing": FACINGS,
        "by": KINDS,
        "watch": tuple(WATCHES),
        "role": PATCH_ROLES,
        "beside": tuple(BESIDES),
    }
    # The shared view state uses some of these names for texts; others are unclear in an address.
    KEYS: ClassVar[Mapping[str, str]] = {
        "one": "region_a",
        "other": "region_b",
        "layer": "of_layer",
        "head": "of_head",
        "facing": "look",
        "by": "shown",
        "revision": "commit",
    }

    vision: str = ""  # The model; "" for the recorded sample, or for the first available model.
    revision: str = ""
    given: str = ""  # The first digits of the key of an uploaded picture; "" for the sample.
    side: int = 0
    show: str = "picture"
    layer: int | None = None
    head: int | None = None
    token: int | None = None
    facing: str = "out"
    by: str = "head"
    texts: str = "a photo of a cat\na photo of a dog\na photo of a house"  # The texts for CLIP-like models.
    edits: str = ""  # "" ablates the selected head, "-" nothing.
    looks: int | None = None  # The query token of an edge that is being masked.
    watch: str = "vector"
    one: str = ""  # The query region, packed by attention/patch_roles.py.
    other: str = ""
    role: str = "neighbours"
    beside: str = "mirrored"
    other_vision: str = ""  # The second model; "" for the next available model.
