"""Options of the page Vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attention.vectors import MIXES, POOLINGS
from i18n import gettext_lazy

SHOWS = {
    "words": gettext_lazy("Words of the text"),
    "contexts": gettext_lazy("One word, several contexts"),
    "sentences": gettext_lazy("Sentences"),
}


@dataclass(frozen=True)
class VectorsOptions:
    """Options of the page Vectors."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS),
        "mix": MIXES,
        "pooling": POOLINGS,
        "flat": ("pca", "umap"),
        "bring": ("typed", "file"),
    }

    show: str = "words"
    mix: str = "last"
    level: int = 0  # used if ``mix`` is "level"
    pooling: str = "mean"
    flat: str = "pca"
    axes: int = 2
    first: str = "She sat on the bank of the river and watched the boats."
    second: str = "He took the money to the bank and opened an account."
    third: str = "The bank raised the interest on its loans."
    term: str = "bank"
    bring: str = "typed"
    lines: str = (
        "A man is playing a guitar on stage.\n"
        "Somebody is making music with an instrument.\n"
        "The band gave a concert last night.\n"
        "The stock market fell sharply on Monday.\n"
        "Share prices dropped at the start of the week.\n"
        "It rained for three days without a break.\n"
        "The weather was wet from Friday to Sunday.\n"
        "My cat sleeps on the sofa all day."
    )
    like: str = "Investors lost money."
