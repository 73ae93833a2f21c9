"""Copies of a model that share its weights for recording, and models without weights or with random weights."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from threading import get_ident
from types import CellType, FunctionType, MethodType
from typing import Any

import torch

from i18n import gettext_lazy
from inference.errors import OUT_OF_MEMORY, UserError, as_user_error
from inference.record import capture
from inference.record.capture import NAME

_MOST = 1000  # longer lists and dicts are not searched


def functions(model: torch.nn.Module) -> Iterator[FunctionType]:
    """Yield every plain Python function that a module of the model stores as an attribute or a hook."""
    for module in model.modules():
        for value in vars(module).values():
            for found in value.values() if isinstance(value, dict) else (value,):
                if isinstance(found, FunctionType):
                    yield found


def rebind(model: torch.nn.Module, memo: dict[int, Any]) -> dict[int, Any]:
    """Add to ``memo``, deepcopy's dictionary of copies, a copy of each function that refers to the model's modules.

    deepcopy does not copy functions, so a wrapper such as ``lambda *a, **k: old(*a, **k)`` in the copy would run the
    original module. The search follows methods, partial functions, closures, defaults, globals and containers. All
    objects that do not refer to modules stay shared.
    """
    own = {id(module) for module in model.modules()}
    found = [function for function in functions(model) if _reaches(function, own, {})]
    for function in list(found):
        found += [inner for inner in _inner(function, {}) if _reaches(inner, own, {})]
    made = {id(function): (function, _copy_function(function, own)) for function in found}
    memo.update((at, new) for at, (_function, new) in made.items())  # first, as they may refer to each other
    for function, new in made.values():
        _fill(function, new, own, memo)
    return memo


def refers_to(function: FunctionType) -> dict[str, Any]:
    """Return the objects that a function refers to, by name: globals, closure variables and defaults."""
    found = {name: function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__}
    found |= {name: cell.cell_contents for name, cell in _cells(function) if _is_full(cell)}
    found |= {f"default {at}": value for at, value in enumerate(function.__defaults__ or ())}
    return found | {f"default {name}": value for name, value in (function.__kwdefaults__ or {}).items()}


def _cells(function: FunctionType) -> list[tuple[str, CellType]]:
    return list(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))


def _is_full(cell: CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:  # the variable is not bound yet
        return False
    return True


def _inner(value: Any, seen: dict[int, Any]) -> Iterator[FunctionType]:
    """Yield every function that a value refers to, at any depth."""
    for part in _parts(value):
        if isinstance(part, FunctionType | MethodType | partial | list | tuple | dict) and id(part) not in seen:
            seen[id(part)] = part
            if isinstance(part, FunctionType):
                yield part
            yield from _inner(part, seen)


def _parts(value: Any) -> list[Any]:
    """Return the values that a function, a method, a partial function or a container refers to."""
    if isinstance(value, FunctionType):
        return list(refers_to(value).values())
    if isinstance(value, MethodType):
        return [value.__self__]
    if isinstance(value, list | tuple) and len(value) <= _MOST:
        return list(value)
    if isinstance(value, dict) and len(value) <= _MOST:
        return list(value.values())
    return [value.func, *value.args, *value.keywords.values()] if isinstance(value, partial) else []


def _reaches(value: Any, own: set[int], seen: dict[int, Any]) -> bool:
    """Return True if a value is a module of the model or refers to such a module, at any depth."""
    if isinstance(value, torch.nn.Module):
        return id(value) in own
    if id(value) in seen:
        return False
    seen[id(value)] = value
    return any(_reaches(part, own, seen) for part in _parts(value))


def _copy_function(function: FunctionType, own: set[int]) -> FunctionType:
    """Copy a function with empty cells for the model's modules, which ``_fill`` sets later."""
    cells = tuple(
        CellType() if _is_full(cell) and _reaches(cell.cell_contents, own, {}) else cell for _, cell in _cells(function)
    )
    names = function.__globals__
    if any(name in names and _reaches(names[name], own, {}) for name in function.__code__.co_names):
        names = dict(names)
    new = FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    new.__kwdefaults__ = function.__kwdefaults__
    new.__dict__.update(function.__dict__)
    return new


def _fill(function: FunctionType, new: FunctionType, own: set[int], memo: dict[int, Any]) -> None:
    """Set the copied modules in the copy of a function."""

    def copy_value(value: Any) -> Any:
        return copy.deepcopy(value, memo) if _reaches(value, own, {}) else value

    for (_, old), (_, cell) in zip(_cells(function), _cells(new), strict=True):
        if cell is not old:
            cell.cell_contents = copy_value(old.cell_contents)
    if new.__globals__ is not function.__globals__:
        for name in function.__code__.co_names:
            if name in function.__globals__:
                new.__globals__[name] = copy_value(function.__globals__[name])
    if function.__defaults__:
        new.__defaults__ = tuple(map(copy_value, function.__defaults__))
    if function.__kwdefaults__:
        new.__kwdefaults__ = {name: copy_value(value) for name, value in function.__kwdefaults__.items()}


# Attributes of torch, such as hooks, submodules and the training mode, are compared separately or not at all.
_OF_TORCH = frozenset(vars(torch.nn.Module())) - {"_parameters", "_buffers"}
_HOOKS = ("_forward_hooks", "_forward_pre_hooks")
_DEEP = 6  # the depth to which nested values are compared


def fingerprint(model: torch.nn.Module) -> tuple[Any, ...]:
    """Return a value that changes if anything changes that affects a forward pass of the model.

    The value covers tensors, configuration, functions, attributes, adapters and hooks.
    """
    known: dict[int, Any] = {}
    return tuple(part for module in model.modules() for part in _module(module, known))


def _module(module: torch.nn.Module, known: dict[int, Any]) -> Iterator[Any]:
    yield id(module)
    yield _function(type(module).forward, known)
    for name, value in vars(module).items():
        if name in _HOOKS:
            yield from (_function(hook, known) for hook in value.values())
        elif name in ("_parameters", "_buffers"):
            yield from (_tensor(tensor) for tensor in value.values() if tensor is not None)
        elif name not in _OF_TORCH:
            yield name
            yield _value(value, known, _DEEP)


def _tensor(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Return a tensor's address, type, shape and version; torch increments the version at each change."""
    version = None if tensor.is_inference() else tensor._version  # noqa: SLF001  # torch has no public attribute for it
    place = tensor.data_ptr() if tensor.layout == torch.strided else id(tensor)
    return id(tensor), place, tensor.device, tensor.dtype, tensor.shape, version


def _function(function: Any, known: dict[int, Any]) -> Any:
    """Return the identity of a function and of its code, and the plain values that the function reads."""
    if isinstance(function, MethodType):
        return id(function.__self__), _function(function.__func__, known)
    if not isinstance(function, FunctionType):
        return id(function)
    if id(function) not in known:
        known[id(function)] = None
        plain = [(name, value) for name, value in refers_to(function).items() if isinstance(value, int | float | str)]
        known[id(function)] = (id(function), id(function.__code__), *plain)
    return known[id(function)]


def _value(value: Any, known: dict[int, Any], depth: int) -> Any:
    """Convert a value for comparison: plain values stay, other objects become their identity."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | torch.dtype | torch.device):
        return value
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, FunctionType | MethodType):
        return _function(value, known)
    if depth == 0 or isinstance(value, torch.nn.Module | type):
        return id(value)
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(_value(part, known, depth - 1) for part in value)
    if isinstance(value, dict):
        return tuple((str(name), _value(part, known, depth - 1)) for name, part in value.items())
    if not hasattr(value, "__dict__"):
        return id(value)
    if id(value) not in known:  # modules share the configuration, so it is converted once
        known[id(value)] = id(value)
        known[id(value)] = (id(value), _value(vars(value), known, depth - 1))
    return known[id(value)]


_KNOWN = ("config", "main_input_name", "get_input_embeddings")  # every model of transformers has these attributes
_LONGEST = 300  # the longest error message that is shown


def copy_for_recording(model: Any) -> Any:
    """Copy a model's modules, share its tensors, and prepare the copy for recording on the same device.

    The model's hooks also run in the copy, because they are part of the computation. Raise UserError if the model
    cannot be copied or traced.
    """
    _refuse_foreign(model)
    name = type(model).__name__
    with as_user_error(f"{name} cannot be traced: something in it cannot be copied.", way_out=None):
        made = copy.deepcopy(model, rebind(model, _share_tensors(model)))
    made.register_forward_pre_hook(_to_device, with_kwargs=True)
    capture.install()
    prepare(made)
    return made


def prepare(model: Any, way_out: str | None = None) -> bool:
    """Prepare a model for recording; raise UserError with the reason if the model fails on a short text.

    Return True if queries, keys and values can be recorded, or False if the model reports only attention maps.
    ``way_out`` names the remedy that the error offers.
    """
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
    """Raise UserError for anything but a model of transformers with its weights in memory."""
    name = type(model).__name__
    if not isinstance(model, torch.nn.Module) or not all(hasattr(model, known) for known in _KNOWN):
        inside = _inner_model_path(model)
        if inside:
            raise UserError(
                f"{name} came, but a model of the transformers library is expected. Pass the model inside"
                f" it: model{inside}."
            )
        raise UserError(
            f"{name} came, but a model of the transformers library is expected, such as"
            f" AutoModel.from_pretrained(…) gives."
        )
    if any(tensor.is_meta for tensor in (*model.parameters(), *model.buffers())):
        raise UserError(
            f"{name} has weights on the meta device, which holds no numbers. Load them with"
            f" from_pretrained(…) onto a CPU or a GPU."
        )
    _refuse_virtual_tokens(model)
    _refuse_adaption_prompts(model)


def _refuse_virtual_tokens(model: torch.nn.Module) -> None:
    """Raise UserError if an active PEFT adapter adds virtual tokens, as prefix and prompt tuning do.

    The message suggests get_base_model(), because disable_adapter() is a context manager and fails for encoders in
    PEFT 0.21.
    """
    for path, module in model.named_modules():
        adapter: Any = getattr(module, "active_peft_config", None)
        if getattr(adapter, "is_prompt_learning", False) and not getattr(module, "_adapters_disabled", False):
            raise UserError(
                "The adapter {adapter} adds virtual tokens ({kind}), which have no text. Expected a model"
                " without prompt learning. Pass {model}.get_base_model().".format(
                    adapter=str(getattr(module, "active_adapter", "")),
                    kind=str(getattr(adapter.peft_type, "value", adapter.peft_type)),
                    model=f"model{_steps(path)}",
                )
            )


def _refuse_adaption_prompts(model: torch.nn.Module) -> None:
    """Raise UserError if an attention module attends to a learned prompt, as PEFT's AdaptionPrompt does.

    The attention maps do not include the prompt, and get_base_model() keeps the wrapped modules.
    """
    for path, module in model.named_modules():
        if isinstance(getattr(module, "adaption_prompt", None), torch.nn.Parameter):
            raise UserError(
                f"{path} also attends to an adaption prompt of {module.adaption_prompt.shape[-2]} virtual"
                f" tokens, which have no text. Trace the model inside “with model.disable_adapter():”."
            )


def _inner_model_path(model: Any) -> str:
    """Return the path to the first transformers model inside a module, such as "[0].auto_model", or ""."""
    for path, module in model.named_modules() if isinstance(model, torch.nn.Module) else ():
        if path and all(hasattr(module, known) for known in _KNOWN):
            return _steps(path)
    return ""


def _steps(path: str) -> str:
    """Format the path of a module as code, such as "[0].auto_model"."""
    return "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in path.split(".") if step)


def _failed_model_error(model: Any, error: BaseException, way_out: str | None) -> UserError:
    """Return the error for a model that fails on a short text, with a hint to its base model."""
    name = type(model).__name__
    reason = " ".join(str(error).split())[:_LONGEST].rstrip(".") or type(error).__name__
    said: str = gettext_lazy("{name} cannot be traced: a short text fails ({reason}).", name=name, reason=reason)
    base = getattr(model, "base_model_prefix", "")
    if base and way_out is None and getattr(model, base, model) is not model:
        said = (
            f"{name} cannot be traced, because a short text fails: {reason}. Pass its base model instead: model.{base}."
        )
    return UserError(said, way_out=way_out)


def _share_tensors(model: torch.nn.Module) -> dict[int, Any]:
    """Return a memo for deepcopy that shares each tensor's storage, without gradients."""
    memo: dict[int, Any] = {}
    for parameter in model.parameters():
        plain = type(parameter) is torch.nn.Parameter  # quantised parameters, which have more state, are shared
        memo[id(parameter)] = torch.nn.Parameter(parameter.detach(), requires_grad=False) if plain else parameter
    memo.update((id(buffer), buffer.detach()) for buffer in model.buffers())
    return memo


def _to_device(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Move the inputs of a model to the device of its weights."""
    device = next(module.parameters()).device
    move = [value.to(device) if isinstance(value, torch.Tensor) else value for value in args]
    return tuple(move), {k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in kwargs.items()}


MOST_MODULES = 200_000  # per model; building that many takes about ten seconds


def measure_on_meta(config: Any, auto: Any) -> tuple[int, str]:
    """Build a model without weights; return its number of parameters and its attention implementation.

    Raise ValueError for a configuration that would take minutes to build.
    """
    with torch.device("meta"), few_modules():
        try:
            model, implementation = (
                auto.from_config(deepcopy(config), attn_implementation=NAME, trust_remote_code=False),
                NAME,
            )
        except KeyError:  # the model's code accepts only a fixed list of names
            model = auto.from_config(deepcopy(config), trust_remote_code=False)
            implementation = model.config._attn_implementation  # noqa: SLF001  # there is no public attribute for it
    return sum(tensor.numel() for group in (model.parameters(), model.buffers()) for tensor in group), implementation


@contextmanager
def few_modules() -> Iterator[None]:
    """Inside the block, raise ValueError if this thread builds more than MOST_MODULES modules.

    Modules are counted as they are built, because a configuration can multiply them in many ways, such as experts times
    layers.
    """
    built, builder = 0, get_ident()

    def count(_module: torch.nn.Module, _name: str, _child: torch.nn.Module | None) -> None:
        nonlocal built
        built += get_ident() == builder
        if built > MOST_MODULES:
            raise ValueError(f"A model of more than {MOST_MODULES:,} modules was asked for. Pick a smaller one.")

    handle = torch.nn.modules.module.register_module_module_registration_hook(count)
    try:
        yield
    finally:
        handle.remove()


SEED = 1


def init_random_model(auto: Any, config: Any, implementation: str, seed: int = SEED) -> Any:
    """Build a model with random initial weights, reproducible by ``seed``.

    ``auto`` is a class such as AutoModel, and ``implementation`` the name of the attention implementation. The random
    state of torch is restored afterwards, but other threads may draw from it in between. The caller must therefore hold
    ``building.BUILDING``, the lock under which every model is built.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return auto.from_config(config, attn_implementation=implementation, dtype=torch.float32)
