"""Address parameters of the view Similarity."""

from __future__ import annotations

from dataclasses import dataclass

from attention.similarity import FIRST, LAST, MAX, MEAN, WORDS
from i18n import gettext_lazy
from viz.options import option

SHOWS = {
    "matrix": gettext_lazy("Matrix"),
    "lines": gettext_lazy("Lines"),
    "words": gettext_lazy("Per word"),
    "removal": gettext_lazy("Without each word"),
    "heads": gettext_lazy("Ablate heads"),
    "search": gettext_lazy("Search"),
}
POOLED = {
    "": gettext_lazy("The model's own"),
    MEAN: gettext_lazy("Mean"),
    WORDS: gettext_lazy("Mean of words"),
    FIRST: gettext_lazy("First token ([CLS])"),
    MAX: gettext_lazy("Maximum"),
    LAST: gettext_lazy("Last token"),
}


@dataclass(frozen=True)
class SimilarityOptions:
    """Options of the view Similarity; the first text is that of the shared view state."""

    other: str = ""  # the second text; "" is the ready counterpart of the first, if any
    show: str = option("matrix", label=gettext_lazy("View"), choices=SHOWS)
    pooling: str = option(
        "",
        label=gettext_lazy("Pooling"),
        help=gettext_lazy("How token vectors become one. The model's own is in modules.json, else the mean."),
        choices=POOLED,
    )
