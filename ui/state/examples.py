"""The example sentences of the text box; the first is the default text."""

from __future__ import annotations

import json
from typing import Any

from i18n import gettext_lazy
from ui.paths import ASSETS

EXAMPLES: list[dict[str, Any]] = [
    example | {"title": gettext_lazy(title)}
    for example in json.loads((ASSETS / "examples.json").read_text(encoding="utf-8"))
    for title in [example["title"]]
]


def example_of(text: str, pair: str) -> dict[str, Any] | None:
    """Return the example with this text and pair, or None."""
    return next((e for e in EXAMPLES if e["text"] == text and e.get("pair", "") == pair), None)
