"""A model in somebody's memory as one that records: a shell of modules of its own over the very same weights.

Recording needs another attention function, evaluation mode, marks on modules and hooks. All of that is done to the
shell, so the model itself is never touched: its modules, settings, gradients and caches stay whose they were.
"""

from __future__ import annotations

import copy
from typing import Any

import torch

from inference.errors import Refusal, refusing
from inference.record import capture
from wording import sentence


def shell(model: Any) -> Any:
    """The model's modules copied, its parameters and buffers shared; prepared for recording, on the same device.

    Hooks that were put on the model run in the shell too, as they are a part of what it computes. Raises Refusal.
    """
    if not isinstance(model, torch.nn.Module) or not hasattr(model, "config"):
        raise Refusal(
            sentence(
                "{name} came, but a model of the transformers library is expected, such as "
                "AutoModel.from_pretrained(…) gives.",
                name=type(model).__name__,
            )
        )
    name = type(model).__name__
    with refusing(
        sentence("{name} cannot be read beside itself: something in it cannot be copied.", name=name), way_out=None
    ):
        made = copy.deepcopy(model, _shared(model))
    with refusing(sentence("{name} cannot be traced: a first, tiny text already fails.", name=name), way_out=None):
        made.register_forward_pre_hook(_to_device, with_kwargs=True)
        capture.install()
        _record(made)
        capture.prepare(made)
    return made


def stamp(model: torch.nn.Module) -> tuple[Any, ...]:
    """What a shell was made of: another stamp, and it is to be made anew. Numbers that change in place are shared."""
    tensors = [*model.parameters(), *model.buffers()]
    hooks = [id(h) for m in model.modules() for h in (*m._forward_hooks.values(), *m._forward_pre_hooks.values())]  # noqa: SLF001  # torch has no public way to list them
    return (*((id(t), t.data_ptr(), t.device, t.dtype, t.shape) for t in tensors), *hooks)


def _shared(model: torch.nn.Module) -> dict[int, Any]:
    """For deepcopy: every tensor by its id, as a tensor over the same numbers that takes no gradient."""
    memo: dict[int, Any] = {}
    for parameter in model.parameters():
        plain = type(parameter) is torch.nn.Parameter  # a quantised one knows more than its numbers, and is kept itself
        memo[id(parameter)] = torch.nn.Parameter(parameter.detach(), requires_grad=False) if plain else parameter
    memo.update((id(buffer), buffer.detach()) for buffer in model.buffers())
    return memo


def _record(made: Any) -> None:
    """Gives the shell the attention that is recorded, where its family takes one by name."""
    try:
        made.set_attn_implementation(capture.NAME)
    except (ValueError, AttributeError, ImportError):
        return  # its finished maps are asked for


def _to_device(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a model is given, where its weights are."""
    device = next(module.parameters()).device
    move = [value.to(device) if isinstance(value, torch.Tensor) else value for value in args]
    return tuple(move), {k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in kwargs.items()}
