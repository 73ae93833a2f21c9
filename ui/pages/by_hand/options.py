"""What the page By hand lets its reader choose."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from i18n import gettext_lazy
from ui.paths import ASSETS

PRESETS: tuple[dict[str, Any], ...] = tuple(json.loads((ASSETS / "by_hand.json").read_text(encoding="utf-8")))
TITLES = {
    "sentence": gettext_lazy("Four words, two heads"),
    "tutorial": gettext_lazy("Four words, one-hot (a tutorial's)"),
    "lookup": gettext_lazy("Three words, each fetches the next"),
}
UNNAMED = "tutorial"  # what a link without a preset means that says anything else: once it was the first one


@dataclass(frozen=True)
class ByHandOptions:
    """What the page's address holds beside the shared choice."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"preset": ("", *(preset["name"] for preset in PRESETS))}

    preset: str = ""  # "": see ``named``
    numbers: str = ""  # the matrices as ui/pages/by_hand/as_csv.py packs them; "" = the preset's
    heads: int = 1
    causal: bool = False
    scaled: bool = True  # over √d_k; off: d_k is taken for 1
    positions: bool = False
    onward: bool = True  # residual sums, LayerNorm and feed-forward
    shown: int = 0  # the head whose scores are shown
    row: int | None = None  # the pair that is worked out; None = the largest weight
    column: int | None = None
    cell: str = ""  # the cell whose sum is written out: a step's key, row and column, such as "q-0-1"

    @property
    def preset_name(self) -> str:
        """The preset that is meant: nothing chosen is the first one.

        >>> ByHandOptions().preset_name, ByHandOptions(heads=2).preset_name, ByHandOptions(preset="lookup").preset_name
        ('sentence', 'tutorial', 'lookup')
        """
        return self.preset or (PRESETS[0]["name"] if self == ByHandOptions() else UNNAMED)
