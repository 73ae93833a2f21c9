"""Layers that stay as they are: what they already know is kept, and a step takes less time."""

from __future__ import annotations

from typing import Any

from torch.nn import ModuleList

from i18n import gettext_lazy
from inference.errors import UserError


def freeze(model: Any, layers: int, name: str) -> None:
    """The embeddings and that many layers from below learn nothing; 0 leaves all learning. Raises Refusal.

    What a model is made of is read in its order: all that stands before the end of the last of these layers stays.
    """
    if not layers:
        return
    stack = _stack(model)
    if stack is None or layers > len(stack):
        given = {"name": name, "layers": layers}
        raise UserError(
            gettext_lazy(
                "{name} has layers that cannot be told apart, so {layers} cannot be frozen. Freeze fewer, or none.",
                **given,
            )
            if stack is None
            else gettext_lazy(
                "{name} has {n} layers, so {layers} cannot be frozen. Freeze fewer, or none.", n=len(stack), **given
            )
        )
    waiting = {id(parameter) for layer in list(stack)[:layers] for parameter in layer.parameters()}
    for parameter in model.base_model.parameters():
        if not waiting:
            return
        parameter.requires_grad_(False)
        waiting.discard(id(parameter))


def _stack(model: Any) -> ModuleList | None:
    """The list of a model's layers; None where there is none of as many as its configuration says."""
    count = model.config.get_text_config().num_hidden_layers
    lists = (part for part in model.base_model.modules() if isinstance(part, ModuleList) and len(part) == count)
    return next(lists, None)
