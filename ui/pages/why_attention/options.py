"""Options of the page Why attention."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from training.jobs.baseline_runs import STEPS
from ui.pages.why_attention.descriptions import NAMES, TITLES, WITHOUT
from viz.options import option

MOMENTS = {"before": gettext_lazy("Before training"), "after": gettext_lazy("After training")}


@dataclass(frozen=True)
class WhyAttentionOptions:
    """Options of the page Why attention; None selects the model's width or the text's length."""

    d: int | None = None
    k: int = 3  # kernel width of the convolution; the paper gives no value
    r: int = 64  # neighbourhood of restricted self-attention, in tokens
    n: int | None = None
    # The task of the recorded runs and of a training here.
    task: str = option(
        "recall",
        label=gettext_lazy("Task"),
        help=gettext_lazy("What the three networks are trained on"),
        choices=TITLES,
    )
    # Draw the gradient before or after training.
    when: str = option(
        "after",
        label=gettext_lazy("Gradient"),
        help=gettext_lazy("With random numbers, or with those that were learned"),
        choices=MOMENTS,
    )
    network: str = option("transformer", label=gettext_lazy("Network"), choices=NAMES)  # the network to train here
    # The ablated part of the Transformer to train, or "".
    off: str = option(
        "",
        label=gettext_lazy("Switched off"),
        help=gettext_lazy("A part of the Transformer that it learns without"),
        choices=WITHOUT,
    )
    # The recorded runs have other seeds.
    seed: int = option(
        3,
        label=gettext_lazy("Seed"),
        help=gettext_lazy("Of the first numbers and of the texts; the same seed gives the same network"),
    )
    steps: int = option(STEPS, label=gettext_lazy("Steps"))
