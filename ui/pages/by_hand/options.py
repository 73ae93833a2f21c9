"""Address parameters of the page By hand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from i18n import gettext_lazy
from ui.paths import ASSETS
from viz.options import option

PRESETS: tuple[dict[str, Any], ...] = tuple(json.loads((ASSETS / "by_hand.json").read_text(encoding="utf-8")))
TITLES = {
    "sentence": gettext_lazy("Four words, two heads"),
    "tutorial": gettext_lazy("Four one-hot words (tutorial)"),
    "lookup": gettext_lazy("Three words, lookup"),
}
UNNAMED = "tutorial"  # preset of links with other parameters but no preset, the default of earlier versions


@dataclass(frozen=True)
class ByHandOptions:
    """Options of the page By hand, besides the shared view state."""

    preset: str = option("", choices=("", *(preset["name"] for preset in PRESETS)))  # "": see ``preset_name``
    numbers: str = ""  # the matrices as packed by ui/pages/by_hand/as_csv.py; "" = those of the preset
    heads: int = 1
    causal: bool = False
    scaled: bool = True  # divide scores by √d_k
    positions: bool = False
    onward: bool = True  # residual sums, LayerNorm and feed-forward
    shown: int = 0  # the head whose scores are shown
    row: int | None = None  # the query and key to work out; None = those of the largest weight
    column: int | None = None
    cell: str = ""  # the opened cell: a step's key, row and column, such as "q-0-1"

    @property
    def preset_name(self) -> str:
        """Return the name of the preset; by default the first preset, or UNNAMED if other options are set.

        >>> ByHandOptions().preset_name, ByHandOptions(heads=2).preset_name, ByHandOptions(preset="lookup").preset_name
        ('sentence', 'tutorial', 'lookup')
        """
        return self.preset or (PRESETS[0]["name"] if self == ByHandOptions() else UNNAMED)
