"""The view options of the attention microscope, declared once for addresses, payloads and the script's types.

After a change run ``make contract``, which writes contract.js, the types of the script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from attention.measures import MEASURES, measures_of
from attention.view import View
from i18n import gettext_lazy
from viz.options import Option, option, options_of


@dataclass(frozen=True)
class MicroscopeOptions:
    """The view options of the microscope; the first choice of each is the default.

    A script draws the menu of an option with ``picker(app, name)`` of picker.js and reads its value in
    ``app.shown()``.
    """

    tab: str = option(
        "matrix",
        label=gettext_lazy("Head view"),
        choices={"matrix": gettext_lazy("Matrix"), "lines": gettext_lazy("Lines")},
    )
    facing: str = option(  # "out": keys of the focus; "in": queries that attend to the target.
        "out",
        label=gettext_lazy("Shading"),
        choices={"out": gettext_lazy("looks at"), "in": gettext_lazy("is looked at by")},
    )
    order: str = option(
        "layer",
        label=gettext_lazy("Order"),
        choices={
            "layer": gettext_lazy("by layer"),
            **{measure.name: measure.order for measure in MEASURES},
            "focus": gettext_lazy("focus → target first"),
        },
    )
    filter: str = option(
        "all",
        label=gettext_lazy("Pairs"),
        choices={"all": gettext_lazy("all"), "aa": "A → A", "ab": "A → B", "ba": "B → A", "bb": "B → B"},
    )
    scale: str = option(
        "sqrt",
        label=gettext_lazy("Scale"),
        choices={"sqrt": gettext_lazy("square root"), "linear": gettext_lazy("linear")},
    )
    upto: str = option(  # Maximum of the colour scale: the largest weight, or 1.
        "fit",
        label=gettext_lazy("Up to"),
        choices={"fit": gettext_lazy("Maximum"), "one": "1"},
    )
    by: str = option(  # Measure that ranks links.
        "excess",
        label=gettext_lazy("Strength"),
        help=gettext_lazy("The weight minus the larger of column mean and positional prior."),
        choices={"excess": gettext_lazy("weight above baseline"), "weight": gettext_lazy("weight")},
    )


DECLARED = options_of(MicroscopeOptions)

OF_PATCHES = replace(
    DECLARED["by"],
    help=gettext_lazy("Excess: weight above the mean from other patches. Weight: the model's own."),
    choices={**DECLARED["by"].choices, "excess": gettext_lazy("excess")},
)


def options_for(view: View) -> Mapping[str, Option]:
    """Return the declarations of the view options, with the choices and labels that fit this text.

    Heads can be ordered by each measure of the view (``measures_of``). Maps with signed values offer no measures, and
    only plain weights as the strength of a link.
    """
    by = OF_PATCHES if view.grids is not None else DECLARED["by"]
    measured = () if view.is_signed else tuple(measure.name for measure in measures_of(view))
    return {
        **DECLARED,
        "order": _only(DECLARED["order"], ("layer", *measured, "focus")),
        "by": _only(by, ("weight",)) if view.is_signed else by,
    }


def _only(declared: Option, values: Sequence[str]) -> Option:
    return replace(declared, choices={value: declared.choices[value] for value in values})
