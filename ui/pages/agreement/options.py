"""Address parameters of the page Agreement."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from viz.options import option

EXPLAINED = {
    "vector": gettext_lazy("A word's vector"),
    "label": gettext_lazy("Label of the text"),
    "tag": gettext_lazy("Tag of a word"),
}


@dataclass(frozen=True)
class AgreementOptions:
    """Options of the page Agreement."""

    explain: str = option(
        "vector",
        label=gettext_lazy("Output to explain"),
        help=gettext_lazy("A label needs a model with a classification head; Fine-tune a model trains one."),
        choices=EXPLAINED,
    )
    label: int | None = None  # index of the explained label; None is the likeliest label
    # Include the focus word among the candidate words.
    itself: bool = option(
        False,
        label=gettext_lazy("Include word itself"),
        help=gettext_lazy("Adds the word's own share, which is large for methods that follow the residual stream."),
    )
