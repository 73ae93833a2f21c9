"""Options of the view Head atlas, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from ui.show.atlases import MEASURE_TITLES, AtlasChoiceOptions
from viz.options import option

AXES: dict[str, str] = {
    "excess": gettext_lazy("mean peak excess"),
    **MEASURE_TITLES,
    "random": gettext_lazy("distance from random"),
    **{name: gettext_lazy("accuracy: {relation} (%)", relation=name) for name in ("det", "nsubj", "obj", "amod")},
}


@dataclass(frozen=True)
class HeadAtlasOptions(AtlasChoiceOptions):
    """Options of the view Head atlas: both axes of the chart, the sample, and an atlas to compare with."""

    x: str = option(
        "distance",
        label=gettext_lazy("Horizontal axis"),
        help=gettext_lazy("Mean over windows; accuracies are of held-out sentences."),
        choices=AXES,
        name="across",
    )
    y: str = option("excess", label=gettext_lazy("Vertical axis"), choices=AXES, name="upward")
    seed: int = option(0, label=gettext_lazy("Sample"), help=gettext_lazy("Another number draws other windows."))
    other: str = option(
        "",
        label=gettext_lazy("Compare with"),
        help=gettext_lazy("The atlas in which similar heads are searched."),
        name="with",
    )
