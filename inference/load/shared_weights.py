"""A model in somebody's memory as one that records: a shell of modules of its own over the very same weights.

Recording needs another attention function, evaluation mode, marks on modules and hooks. All of that is done to the
shell, so the model itself is never touched: its modules, settings, gradients and caches stay whose they were.
"""

from __future__ import annotations

import copy
from typing import Any

import torch

from i18n import gettext_lazy
from inference.errors import OUT_OF_MEMORY, UserError, as_user_error
from inference.load.rebinding import rebind
from inference.record import capture

_KNOWN = ("config", "main_input_name", "get_input_embeddings")  # attributes of every model of transformers
_LONGEST = 300  # characters of an error that are shown


def copy_for_recording(model: Any) -> Any:
    """The model's modules copied, its parameters and buffers shared; prepared for recording, on the same device.

    Hooks that were put on the model run in the shell too, as they are a part of what it computes. Raises Refusal.
    """
    _refuse_foreign(model)
    name = type(model).__name__
    with as_user_error(
        gettext_lazy("{name} cannot be read beside itself: something in it cannot be copied.", name=name), way_out=None
    ):
        made = copy.deepcopy(model, rebind(model, _share_tensors(model)))
    made.register_forward_pre_hook(_to_device, with_kwargs=True)
    capture.install()
    prepare(made)
    return made


def prepare(model: Any, way_out: str | None = None) -> bool:
    """Ready a model for recording; raises Refusal with the reason if it fails on a short text."""
    try:
        with as_user_error(gettext_lazy("{name} cannot be traced.", name=type(model).__name__), way_out=way_out):
            return capture.prepare(model)
    except UserError as refused:
        error = refused.__cause__
        if error is None or refused.message == OUT_OF_MEMORY:
            refused.way_out = refused.way_out or way_out
            raise
        raise _failed_model_error(model, error.__cause__ or error, way_out) from error


def _refuse_foreign(model: Any) -> None:
    """Raise Refusal for anything but a model of transformers whose numbers are in memory."""
    name = type(model).__name__
    if not isinstance(model, torch.nn.Module) or not all(hasattr(model, known) for known in _KNOWN):
        inside = _inner_model_path(model)
        if inside:
            raise UserError(
                gettext_lazy(
                    "{name} came, but a model of the transformers library is expected. Pass the model inside it: "
                    "model{path}.",
                    name=name,
                    path=inside,
                )
            )
        raise UserError(
            gettext_lazy(
                "{name} came, but a model of the transformers library is expected, such as "
                "AutoModel.from_pretrained(…) gives.",
                name=name,
            )
        )
    if any(tensor.is_meta for tensor in (*model.parameters(), *model.buffers())):
        raise UserError(
            gettext_lazy(
                "{name} has weights on the meta device, which holds no numbers. "
                "Load them with from_pretrained(…) onto a CPU or a GPU.",
                name=name,
            )
        )
    _refuse_virtual_tokens(model)
    _refuse_adaption_prompts(model)


def _refuse_virtual_tokens(model: torch.nn.Module) -> None:
    """Raise Refusal if an active adapter of PEFT adds virtual tokens, as prefix tuning and prompt tuning do.

    The fix is get_base_model(): disable_adapter() is a context manager, and PEFT 0.21 fails in it for encoders.
    """
    for path, module in model.named_modules():
        adapter: Any = getattr(module, "active_peft_config", None)
        if getattr(adapter, "is_prompt_learning", False) and not getattr(module, "_adapters_disabled", False):
            raise UserError(
                gettext_lazy(
                    "The adapter {adapter} adds virtual tokens ({kind}), which have no text. "
                    "Expected a model without prompt learning. Pass {model}.get_base_model().",
                    adapter=str(getattr(module, "active_adapter", "")),
                    kind=str(getattr(adapter.peft_type, "value", adapter.peft_type)),
                    model=f"model{_steps(path)}",
                )
            )


def _refuse_adaption_prompts(model: torch.nn.Module) -> None:
    """Raise Refusal if an attention module also attends to a learned prompt, as PEFT's AdaptionPrompt does.

    The prompt's weights are in no map, and get_base_model() keeps the wrapped modules.
    """
    for path, module in model.named_modules():
        if isinstance(getattr(module, "adaption_prompt", None), torch.nn.Parameter):
            raise UserError(
                gettext_lazy(
                    "{module} also attends to an adaption prompt of {tokens} virtual tokens, which have no text. "
                    "Trace the model inside “with model.disable_adapter():”.",
                    module=path,
                    tokens=module.adaption_prompt.shape[-2],
                )
            )


def _inner_model_path(model: Any) -> str:
    """Return the way to the first model of transformers inside another module, such as "[0].auto_model", or ""."""
    for path, module in model.named_modules() if isinstance(model, torch.nn.Module) else ():
        if path and all(hasattr(module, known) for known in _KNOWN):
            return _steps(path)
    return ""


def _steps(path: str) -> str:
    """Return the path of a module as code, such as "[0].auto_model"."""
    return "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in path.split(".") if step)


def _failed_model_error(model: Any, error: BaseException, way_out: str | None) -> UserError:
    """Return the refusal of a model that fails on a short text, with the error and the model's base if it has one."""
    name = type(model).__name__
    reason = " ".join(str(error).split())[:_LONGEST].rstrip(".") or type(error).__name__
    said = gettext_lazy("{name} cannot be traced, because a short text fails: {reason}.", name=name, reason=reason)
    base = getattr(model, "base_model_prefix", "")
    if base and way_out is None and getattr(model, base, model) is not model:
        said = gettext_lazy(
            "{name} cannot be traced, because a short text fails: {reason}. Pass its base model instead: model.{base}.",
            name=name,
            reason=reason,
            base=base,
        )
    return UserError(said, way_out=way_out)


def _share_tensors(model: torch.nn.Module) -> dict[int, Any]:
    """For deepcopy: every tensor by its id, as a tensor over the same numbers that takes no gradient."""
    memo: dict[int, Any] = {}
    for parameter in model.parameters():
        plain = type(parameter) is torch.nn.Parameter  # a quantised one knows more than its numbers, and is kept itself
        memo[id(parameter)] = torch.nn.Parameter(parameter.detach(), requires_grad=False) if plain else parameter
    memo.update((id(buffer), buffer.detach()) for buffer in model.buffers())
    return memo


def _to_device(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a model is given, where its weights are."""
    device = next(module.parameters()).device
    move = [value.to(device) if isinstance(value, torch.Tensor) else value for value in args]
    return tuple(move), {k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in kwargs.items()}
