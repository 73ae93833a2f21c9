"""What the page Pictures lets its reader choose. The picture itself is in the session alone."""

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
ASKING = ("says", "without", "beside")  # views that a recording cannot fill
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
SIDES = (0, 224, 336, 448)  # pixels of the longer side at which a picture is read whole; 0: as the model's processor


# What pointed at places of another picture, or of another model.
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
    """What this page lets its reader choose."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS),
        "facing": FACINGS,
        "by": KINDS,
        "watch": tuple(WATCHES),
        "role": PATCH_ROLES,
        "beside": tuple(BESIDES),
    }
    # Names that the shared choice has for texts, or that say too little in an address.
    KEYS: ClassVar[Mapping[str, str]] = {
        "one": "region_a",
        "other": "region_b",
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
    edits: str = ""  # "" removes the head that is shown, "-" nothing
    looks: int | None = None  # of a link that is to be cut: the token that looks
    watch: str = "vector"
    one: str = ""  # the region whose patches look, as attention/patch_roles.py packs it
    other: str = ""
    role: str = "neighbours"
    beside: str = "mirrored"
    other_vision: str = ""  # the model beside; "" for the next at hand
