"""Address parameters of the view Activation patching."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from ui.state.params import AnsweringOptions, drop_place
from viz.options import option

WATCHES = {
    "blank": gettext_lazy("Masked word"),
    "next": gettext_lazy("Next token"),
    "vector": gettext_lazy("Sentence vector"),
}


@dataclass(frozen=True)
class PatchingOptions(AnsweringOptions):
    """Options of the view Activation patching; the first text is that of the shared view state."""

    other: str = ""  # the second text; "" is the ready counterpart of the first, if any
    # The patching metric; "" is the model's usual task.
    watch: str = option(
        "",
        label=gettext_lazy("Metric"),
        help=gettext_lazy("The model's answer whose change is measured."),
        choices=WATCHES,
    )
    first: str = ""  # first and second are the compared words; "" are those that change most
    second: str = ""
    # The single patch: s3-5 (input of layer 3 at word 5), h3-1 (a head), "" (the head with the largest effect).
    lent: str = option("", of_text=drop_place)
