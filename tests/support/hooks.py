"""A count of the hooks on a model's modules, for tests that code removes its hooks."""

from __future__ import annotations

from typing import Any


def hooks(model: Any) -> int:
    """Count the forward hooks and pre-hooks of all modules; transformers registers some itself."""
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())  # noqa: SLF001  # torch has no public way to ask
