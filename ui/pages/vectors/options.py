"""Options of the page Vectors."""

from __future__ import annotations

from dataclasses import dataclass

from attention.vectors import MIXES
from i18n import gettext_lazy
from viz.options import option

SHOWS = {
    "words": gettext_lazy("Words of the text"),
    "contexts": gettext_lazy("Word in contexts"),
    "sentences": gettext_lazy("Sentences"),
}
POOLED = {
    "mean": gettext_lazy("Mean"),
    "words": gettext_lazy("Mean of words"),
    "first": gettext_lazy("First token ([CLS])"),
    "max": gettext_lazy("Maximum"),
}


@dataclass(frozen=True)
class VectorsOptions:
    """Options of the page Vectors."""

    show: str = option(
        "words",
        label=gettext_lazy("View"),
        help=gettext_lazy("Vectors of this text, of one word, or of many sentences"),
        choices=SHOWS,
    )
    mix: str = option("last", choices=MIXES)
    level: int = 0  # used if ``mix`` is "level"
    pooling: str = option(
        "mean",
        label=gettext_lazy("Pooling"),
        help=gettext_lazy("Turns token vectors into one sentence vector (sentence-BERT, arXiv:1908.10084)"),
        choices=POOLED,
    )
    flat: str = option(
        "pca",
        label=gettext_lazy("Projection"),
        help=gettext_lazy(
            "PCA keeps the directions of largest variance. UMAP keeps neighbours together, not distances."
        ),
        choices={"pca": "PCA", "umap": "UMAP"},
    )
    axes: int = option(
        2,
        label=gettext_lazy("Axes"),
        help=gettext_lazy("A 3-D figure can be rotated"),
        choices={2: "2-D", 3: "3-D"},
    )
    first: str = "She sat on the bank of the river and watched the boats."
    second: str = "He took the money to the bank and opened an account."
    third: str = "The bank raised the interest on its loans."
    term: str = option("bank", label=gettext_lazy("Word"), help=gettext_lazy("Words in at least two sentences"))
    bring: str = option(
        "typed",
        label=gettext_lazy("Sentences"),
        choices={"typed": gettext_lazy("Typed"), "file": gettext_lazy("File")},
    )
    lines: str = option(
        "A man is playing a guitar on stage.\n"
        "Somebody is making music with an instrument.\n"
        "The band gave a concert last night.\n"
        "The stock market fell sharply on Monday.\n"
        "Share prices dropped at the start of the week.\n"
        "It rained for three days without a break.\n"
        "The weather was wet from Friday to Sunday.\n"
        "My cat sleeps on the sofa all day.",
        label=gettext_lazy("One per line"),
        help=gettext_lazy("Empty lines are ignored"),
    )
    like: str = option(
        "Investors lost money.",
        label=gettext_lazy("Nearest to"),
        help=gettext_lazy("A sentence to compare with all others"),
    )
