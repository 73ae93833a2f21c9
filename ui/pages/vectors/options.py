"""Options of the page Vectors."""

from __future__ import annotations

from dataclasses import dataclass

from attention.vectors import MIXES
from i18n import gettext_lazy
from viz.options import option

SHOWS = {
    "words": gettext_lazy("Words of the text"),
    "contexts": gettext_lazy("One word, several contexts"),
    "sentences": gettext_lazy("Sentences"),
}
POOLED = {
    "mean": gettext_lazy("Mean of all tokens"),
    "words": gettext_lazy("Mean without special tokens"),
    "first": gettext_lazy("First token ([CLS] in BERT)"),
    "max": gettext_lazy("Largest value of each channel"),
}


@dataclass(frozen=True)
class VectorsOptions:
    """Options of the page Vectors."""

    show: str = option(
        "words",
        label=gettext_lazy("View"),
        help=gettext_lazy("Vectors of this text, of one word in several texts, or of many sentences"),
        choices=SHOWS,
    )
    mix: str = option("last", choices=MIXES)
    level: int = 0  # used if ``mix`` is "level"
    pooling: str = option(
        "mean",
        label=gettext_lazy("One vector for a sentence"),
        help=gettext_lazy(
            "all-MiniLM-L6-v2 was trained to compare sentences by the mean of all its last layer's tokens "
            "(sentence-BERT, arXiv:1908.10084). Other models were trained by another of these, or by none."
        ),
        choices=POOLED,
    )
    flat: str = option(
        "pca",
        label=gettext_lazy("Made flat by"),
        help=gettext_lazy(
            "PCA keeps the directions in which the vectors differ most, and distances along them. UMAP keeps "
            "neighbours together and gives up distances."
        ),
        choices={"pca": "PCA", "umap": "UMAP"},
    )
    axes: int = option(
        2,
        label=gettext_lazy("Axes"),
        help=gettext_lazy("A 3-D picture can be turned."),
        choices={2: "2-D", 3: "3-D"},
    )
    first: str = "She sat on the bank of the river and watched the boats."
    second: str = "He took the money to the bank and opened an account."
    third: str = "The bank raised the interest on its loans."
    term: str = option(
        "bank", label=gettext_lazy("Word"), help=gettext_lazy("Words that stand in two sentences or more")
    )
    bring: str = option(
        "typed",
        label=gettext_lazy("Sentences"),
        choices={"typed": gettext_lazy("Typed here"), "file": gettext_lazy("From a file")},
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
        label=gettext_lazy("One sentence a line"),
        help=gettext_lazy("Empty lines are left out"),
    )
    like: str = option(
        "Investors lost money.",
        label=gettext_lazy("Nearest to"),
        help=gettext_lazy("Any sentence; it is compared with all of them"),
    )
