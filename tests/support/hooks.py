"""Are a model's modules left as they were found?"""

from __future__ import annotations

from typing import Any


def hooks(model: Any) -> int:
    """How many hooks all modules have; transformers has some of its own."""
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())  # noqa: SLF001  # torch has no public way to ask
