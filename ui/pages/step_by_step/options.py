"""Options of the Step by step page, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass

from viz.options import option


@dataclass(frozen=True)
class StepOptions:
    """Options of the Step by step page: the view, and the changed softmax rules."""

    show: str = option("steps", choices=("steps", "neuron", "rules", "heads"))
    # The default differs from the model's rule, so that the figure shows an effect.
    scaling: str = option("none", choices=("none", "root", "own"))
    percent: int = 100  # The temperature in hundredths.
    masked: bool = True
