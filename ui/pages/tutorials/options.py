"""Options of the page Tutorials."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from viz.options import option

THEMES: dict[str, str] = {
    "attention": gettext_lazy("Attention"),
    "bert": gettext_lazy("BERT and its pre-training"),
    "finetuning": gettext_lazy("Fine-tuning"),
    "families": gettext_lazy("From embeddings to families"),
    "translation": gettext_lazy("Encoder and decoder"),
}
MOST_DROPPED = 50  # percent


@dataclass(frozen=True)
class TutorialsOptions:
    """Options of the page Tutorials."""

    theme: str = option(
        "attention",
        label=gettext_lazy("Theme"),
        help=gettext_lazy("Five ways through the app, each in the order in which it is taught"),
        choices=THEMES,
    )
    seed: int = 1  # seed of the tokens that are masked in the pair
    # Dropout rate in percent, at the station on dropout.
    dropped: int = option(
        10,
        label=gettext_lazy("Dropped, in percent"),
        help=gettext_lazy("0: dropout is off, as whenever a model is asked. 10 is what BERT was trained with."),
    )
