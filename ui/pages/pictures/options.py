"""Options of the Pictures page, and the names of its tokens and edits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attention.edits import Ablate, Edit, EditSet, MaskEdge, MaskKey
from attention.trace import Trace
from i18n import _, gettext_lazy
from ui.ablation.edits import MOST_NAMED
from ui.ablation.edits import describe_edit as describe_plainly
from ui.show.text import format_comma_list
from viz.components.picture.content import FACINGS, KINDS, grid_and_picture
from viz.options import option

SHOWS = {
    "picture": gettext_lazy("Attention map"),
    "matrix": gettext_lazy("Matrix and lines"),
    "says": gettext_lazy("Predictions"),
    "without": gettext_lazy("Ablation"),
    "links": gettext_lazy("Two regions"),
    "roles": gettext_lazy("Head roles"),
    "beside": gettext_lazy("Compare"),
}
ASKING = ("says", "without", "beside")  # Views that need a model.
WATCHES = {
    "vector": gettext_lazy("Image vector"),
    "class": gettext_lazy("Top class"),
    "text": gettext_lazy("Text match"),
}
BESIDES = {
    "mirrored": gettext_lazy("Mirrored image"),
    "sample": gettext_lazy("Sample"),
    "brought": gettext_lazy("Another image"),
    "model": gettext_lazy("Another model"),
}
SIDES = (0, 224, 336, 448)  # Pixels of the longer side without cropping; 0 for the model's processor.


# Defaults of the options that refer to places in a picture or a model, for a change of either.
ELSEWHERE: Mapping[str, Any] = {
    "layer": None,
    "head": None,
    "token": None,
    "to": None,
    "edits": "",
    "looks": None,
    "one": "",
    "other": "",
}
ROLE_NAMES = {
    "itself": gettext_lazy("itself"),
    "left": gettext_lazy("the patch to the left"),
    "right": gettext_lazy("the patch to the right"),
    "up": gettext_lazy("the patch above"),
    "down": gettext_lazy("the patch below"),
    "neighbours": gettext_lazy("the eight patches around it"),
    "row": gettext_lazy("others of its row"),
    "column": gettext_lazy("others of its column"),
    "alone": gettext_lazy("special tokens"),
    "broad": gettext_lazy("everything, about evenly"),
}


@dataclass(frozen=True)
class PicturesOptions:
    """Options of the Pictures page."""

    # The shared view state uses some of these names for texts; others are unclear in an address.
    vision: str = ""  # The model; "" for the recorded sample, or for the first available model.
    revision: str = option("", name="commit")
    given: str = ""  # The first digits of the key of an uploaded picture; "" for the sample.
    side: int = option(
        0,
        label=gettext_lazy("Image size"),
        help=gettext_lazy("Larger images have more patches; the model's own size may crop the image"),
    )
    show: str = option("picture", label=gettext_lazy("View"), choices=SHOWS)
    layer: int | None = option(None, name="of_layer")
    head: int | None = option(None, name="of_head")
    token: int | None = None
    to: int | None = option(None, name="to_token")  # The selected key in the matrix.
    facing: str = option("out", choices=FACINGS, name="look")
    by: str = option("head", choices=KINDS, name="shown")
    # The texts for CLIP-like models.
    texts: str = option("a photo of a cat\na photo of a dog\na photo of a house", label=gettext_lazy("One per line"))
    edits: str = ""  # "" ablates the selected head, "-" nothing.
    looks: int | None = None  # The query token of an edge that is being masked.
    watch: str = option("vector", label=gettext_lazy("Metric"), choices=WATCHES)
    one: str = option("", name="region_a")  # The query region, packed by attention/patch_roles.py.
    other: str = option("", name="region_b")
    role: str = option("neighbours", label=gettext_lazy("Show role"), choices=ROLE_NAMES)
    beside: str = option("mirrored", label=gettext_lazy("Compare with"), choices=BESIDES)
    other_vision: str = ""  # The second model; "" for the next available model.


def place_name(trace: Trace, token: int) -> str:
    """Return the row and column of a patch, counted from 1, or the name of a token without a patch."""
    grid, _picture = grid_and_picture(trace)
    place = grid.place(token)
    if place is None:
        return trace.tokens[token] if token < len(trace.tokens) else str(token)
    return _("row {row}, column {column}", row=place[0] + 1, column=place[1] + 1)


def describe_edit(edit: Edit, trace: Trace) -> str:
    """Return a phrase that describes an edit, with the row and column of its patches."""
    if isinstance(edit, MaskEdge):
        return _(
            "head {layer}-{head}: {query} → {key} masked",
            layer=edit.layer,
            head=edit.head,
            query=place_name(trace, edit.query),
            key=place_name(trace, edit.key),
        )
    if isinstance(edit, MaskKey):
        return _("layer {layer}: {key} masked", layer=edit.layer, key=place_name(trace, edit.key))
    return describe_plainly(edit)


def describe_edits(edits: EditSet, trace: Trace) -> str:
    """Return a phrase for all edits; a token that is hidden in several layers is named once."""
    hidden = dict.fromkeys(edit.key for edit in edits if isinstance(edit, MaskKey))
    removed = [edit for edit in edits if isinstance(edit, Ablate)]
    rest = [edit for edit in edits if not isinstance(edit, Ablate | MaskKey)]
    return format_comma_list(
        [
            *_name_few([describe_edit(edit, trace) for edit in removed], len(removed)),
            *[_("{key} masked", key=place_name(trace, key)) for key in hidden],
            *[describe_edit(edit, trace) for edit in rest],
        ]
    )


def _name_few(names: Sequence[str], many: int) -> Sequence[str]:
    """Return the names, or the number of heads if there are more than MOST_NAMED."""
    return names if many <= MOST_NAMED else [_("{many} heads ablated", many=many)]
