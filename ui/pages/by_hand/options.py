"""What the page By hand lets its reader choose."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from ui.places import ASSETS

PRESETS: tuple[dict[str, Any], ...] = tuple(json.loads((ASSETS / "by_hand.json").read_text(encoding="utf-8")))


@dataclass(frozen=True)
class ByHand:
    """What the page's address holds beside the shared choice."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"preset": tuple(preset["name"] for preset in PRESETS)}

    preset: str = PRESETS[0]["name"]
    numbers: str = ""  # the matrices as ui/pages/by_hand/as_csv.py packs them; "" = the preset's
    heads: int = 1
    causal: bool = False
    shown: int = 0  # the head whose scores are shown
    row: int | None = None  # the pair that is worked out; None = the largest weight
    column: int | None = None
