"""A recorder of the attention of a user's model in memory, which changes neither the model nor its results.

While a recorder is active, transformers' registry of attention functions returns wrappers. A wrapper stores the
queries and keys, and calls the function that the model would have used. The model runs the same kernels on the same
tensors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock, local
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from inference.errors import UserError
from inference.record.attention_call import AttentionCall, Repeats, part_namer
from inference.record.kept_call import KeptCall, KeyBuffers, keep_tensors
from inference.record.records import register_pre_hook

Function = Callable[..., Any]
PASSED_ON = ("input_ids", "attention_mask", "decoder_input_ids", "decoder_attention_mask", "encoder_hidden_states",
             "encoder_attention_mask")  # fmt: skip
OWN_ATTENTION = (
    "{name} computes its attention in code of its own, so it cannot be recorded. Expected a model that uses the "
    "attention interface of transformers. Use output_attentions=True and headlight.view."
)
OTHER_FORMULA = (
    "{name} cannot be recorded: the output of {module} is not the product of the recorded weights and the values. "
    "Expected scaled dot-product attention. Use output_attentions=True."
)
PACKED = "{module} packs several texts into a single row, so its attention cannot be recorded. Pad the batch instead."
TOO_LARGE = "A single pass keeps {kept:,} bytes, more than max_bytes={limit:,}. Raise max_bytes, or use a shorter text."
NO_MODULE = "{name} came, but a torch module was expected, such as AutoModel.from_pretrained(…) gives."
NO_MODEL = "{name} contains no model of transformers, so its attention cannot be recorded. Pass one."


@dataclass(eq=False)
class KeptPass:
    """The attention calls of a recorded pass in order, and the inputs that show which tokens are padding."""

    whole: bool  # True if the recorded model itself ran, and not only its encoder
    encoded: bool = False  # True if the encoder's output was given, as in ``generate``
    calls: list[KeptCall] = field(default_factory=list)
    stacks: list[str] = field(default_factory=list)
    inputs: dict[str, Tensor] = field(default_factory=dict)

    def tensors(self) -> Iterator[Tensor]:
        """Yield every tensor that the pass keeps; shared tensors may come several times."""
        for call in self.calls:
            yield from call.tensors()


@dataclass(eq=False)
class PassStore:
    """The recorded passes of a model, oldest first."""

    name: str  # of the model
    architecture: str  # the name of its class
    two: bool = False  # True for an encoder-decoder
    passes: list[KeptPass] = field(default_factory=list)
    dropped: int = 0  # number of passes that were dropped, all of them older than those that are kept


def count_bytes(passes: Sequence[KeptPass]) -> int:
    """Return the memory of the tensors of some passes in bytes; shared memory counts once."""
    storages = {}
    for kept in passes:
        for tensor in kept.tensors():
            storage = tensor.untyped_storage()
            storages[storage.data_ptr(), tensor.device] = storage.nbytes()
    return sum(storages.values())


_active = local()  # .recorders: the recorders of this thread, outermost first
_patching = Lock()
_replaced: dict[tuple[int, str], list[Any]] = {}  # owner and name: number of blocks, and the original or None
EAGER = "eager_attention_forward"
_checked: WeakKeyDictionary[Any, set[tuple[str, str]]] = WeakKeyDictionary()  # modules whose formula was checked


class Recorder:
    """A recorder of the passes of a single thread through a model.

    If ``keep`` is "last", only the last pass is kept; if it is "all", every pass. If the kept tensors exceed
    ``max_bytes``, the oldest passes are dropped. With ``values``, the value vectors are kept, too.
    """

    def __init__(self, model: Any, *, keep: str = "all", max_bytes: int | None = None, values: bool = False) -> None:
        if keep not in ("all", "last"):
            raise ValueError(f'keep={keep!r} came; expected "all" or "last".')
        if max_bytes is not None and (isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes <= 0):
            raise ValueError(f"max_bytes={max_bytes!r} came; expected a number of bytes above 0, or None.")
        self.model, self.compiled = _plain_module(model)
        self.keep, self.max_bytes, self.values = keep, max_bytes, values
        self._inner = _models_inside(self.model)
        self._main = next(iter(self._inner))
        config = self._main.config
        self.store = PassStore(
            Path(str(getattr(config, "_name_or_path", ""))).name or type(self.model).__name__,
            type(self.model).__name__,
            bool(getattr(config, "is_encoder_decoder", False)),
        )
        self._paths = {id(module): path for path, module in self.model.named_modules()}
        self._name_stack = part_namer(self._main)
        self._buffers = KeyBuffers()
        self._repeats = Repeats()
        self._depth = 0
        self._current: KeptPass | None = None

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Inside the block, record every pass of this thread through the model."""
        with ExitStack() as stack:
            for module in {id(module): module for module in (self.model, *self._inner)}.values():
                stack.callback(register_pre_hook(module, self._begin).remove)
                stack.callback(module.register_forward_hook(self._end, always_call=True).remove)
            stack.enter_context(_use_eager_code(self))
            stack.enter_context(_patch_registry(self.model))
            recorders = _recorders()
            recorders.append(self)
            stack.callback(recorders.remove, self)
            try:
                yield
            finally:
                self._current, self._depth = None, 0
                self._buffers, self._repeats = KeyBuffers(), Repeats()

    def _begin(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Begin a pass, if the module is the outermost that runs."""
        if self not in _recorders():
            return
        if self._depth == 0:
            self._current = KeptPass(whole=module is self.model)
        self._depth += 1
        assert self._current is not None
        found = self._current.inputs
        given = dict(kwargs)
        if args and isinstance(module, PreTrainedModel):
            given.setdefault(module.main_input_name, args[0])
        self._current.encoded |= given.get("encoder_outputs") is not None
        for name in PASSED_ON:
            if isinstance(given.get(name), Tensor):
                found.setdefault(name, given[name].detach())

    def _end(self, _module: Any, _args: Any, output: Any) -> None:
        """End a pass; a pass that raised an error is dropped."""
        if self not in _recorders() or self._depth == 0:
            return
        self._depth -= 1
        if self._depth:
            return
        ended, self._current = self._current, None
        assert ended is not None
        if output is None or (not ended.calls and not ended.whole):
            return
        if not ended.calls or not self._has_every_stack(ended):
            raise UserError(OWN_ATTENTION.format(name=self.store.architecture))
        self._store(ended)

    def _has_every_stack(self, ended: KeptPass) -> bool:
        """Return False if an encoder-decoder computed the attention of some stacks in code of its own."""
        if not self.store.two or not ended.whole:
            return True
        return {"cross", "encoder"} - ({"encoder"} if ended.encoded else set()) <= {*ended.stacks}

    def _store(self, ended: KeptPass) -> None:
        """Add a pass; the encoder's pass, which ``generate`` runs by itself, becomes part of the next pass."""
        passes = self.store.passes
        before = passes[-1] if passes else None
        if before is not None and not before.whole and ended.whole and not {*before.stacks} & {*ended.stacks}:
            passes.pop()
            ended.calls = before.calls + ended.calls
            ended.stacks = before.stacks + ended.stacks
            ended.inputs = {**before.inputs, **ended.inputs}
        if self.keep == "last":
            self.store.dropped += len(passes)
            passes.clear()
        passes.append(ended)
        if self.max_bytes is not None:
            if (kept := count_bytes([ended])) > self.max_bytes:
                raise UserError(TOO_LARGE.format(kept=kept, limit=self.max_bytes))
            while len(passes) > 1 and count_bytes(passes) > self.max_bytes:
                passes.pop(0)
                self.store.dropped += 1

    def note(self, kernel: str, module: Any, tensors: tuple[Any, ...], given: Mapping[str, Any], output: Any) -> None:
        """Keep an attention call of the current pass; ignore calls of other models and outside of passes.

        ``kernel`` is the family of the attention function, such as "sdpa". ``tensors`` are query, key, value and mask,
        and ``given`` are the further arguments of the call.
        """
        path = self._paths.get(id(module))
        if self._current is None or path is None:
            return
        query, key, value, mask = tensors
        if given.get("cu_seq_lens_q") is not None or given.get("cache") is not None or key.shape[0] != query.shape[0]:
            raise UserError(PACKED.format(module=path))
        causal = given.get("is_causal")
        causal = getattr(module, "is_causal", None) if causal is None else causal
        scaling = given.get("scaling")
        call = AttentionCall(
            path,
            query,
            key,
            value,
            mask if isinstance(mask, Tensor) else None,
            given.get("position_bias"),
            query.shape[-1] ** -0.5 if scaling is None else float(scaling),
            bool(True if causal is None and kernel == "sdpa" else causal),
            given.get("softcap"),
            given.get("s_aux"),
        )
        if self._repeats.count(call):
            return
        kept = self._keep(call, kernel, mask, given)
        self._current.calls.append(kept)
        self._current.stacks.append(self._stack_of(call, causal))
        if not module.training:
            self._check_formula(kept, value, output)

    def _keep(self, call: AttentionCall, kernel: str, mask: Any, given: Mapping[str, Any]) -> KeptCall:
        query, key, value = keep_tensors(call.query, call.key, call.value if self.values else None)
        plain = {
            name: getattr(call, name).detach() for name in ("mask", "bias", "sinks") if getattr(call, name) is not None
        }
        found = AttentionCall(
            call.path, query, query[:, :, :0], query[:, :, :0], plain.get("mask"), plain.get("bias"), call.scale,
            call.causal, call.softcap, plain.get("sinks"),
        )  # fmt: skip
        buffer = self._buffers.keep(call.path, key, query.shape[2])
        window = given.get("sliding_window") if kernel == "flash" else None
        block_mask = mask if mask is not None and not isinstance(mask, Tensor) else None
        return KeptCall(found, buffer, key.shape[2], kernel, window, value, block_mask)

    def _stack_of(self, call: AttentionCall, causal: bool | None) -> str:
        """Return the stack of a call; a module without ``is_causal`` is causal if its mask hides later keys."""
        if causal is None and call.mask is not None and call.mask.ndim == 4 and call.query.shape[2] > 1:
            mask = call.mask[:1, :1, :, : call.key.shape[2]]
            allowed = mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2
            causal = not bool(allowed.triu(1).any())
            call = AttentionCall(**{**vars(call), "causal": causal})
        return self._name_stack(call)

    def _check_formula(self, kept: KeptCall, value: Tensor, output: Any) -> None:
        """Compare the last query of a head with the module's output, at the first call of a module."""
        seen, done = _checked.setdefault(self.model, set()), (kept.call.path, kept.kernel)
        if done in seen:
            return
        seen.add(done)
        samples, heads, queries, _ = kept.shape
        row = kept.weights([samples - 1], [heads - 1], [queries - 1])[0, 0, 0]
        expected = output[0].detach().reshape(samples, queries, heads, -1)[-1, -1, -1].float()
        found = row @ value.detach()[-1, (heads - 1) // kept.groups].float()
        coarse = value.dtype in (torch.float16, torch.bfloat16)
        room = (5e-2 if coarse else 1e-3) * max(1e-3, float(value.detach().abs().max()))
        if bool(row.any()) and float((expected - found).abs().max()) > room:
            seen.discard(done)
            raise UserError(OTHER_FORMULA.format(name=self.store.architecture, module=kept.call.path))


def _recorders() -> list[Recorder]:
    """Return the active recorders of this thread."""
    if not hasattr(_active, "recorders"):
        _active.recorders = []
    found: list[Recorder] = _active.recorders
    return found


@contextmanager
def _patch_registry(model: torch.nn.Module) -> Iterator[None]:
    """Inside the block, wrap the attention functions that transformers gives to models of recording threads."""
    with ExitStack() as stack:
        if hasattr(ALL_ATTENTION_FUNCTIONS, "get_interface"):
            stack.enter_context(_replace(ALL_ATTENTION_FUNCTIONS, "get_interface", _wrap_choice))
        else:  # transformers before 5.1: a model reads the registry, or calls the eager function of its own module
            stack.enter_context(_replace(type(ALL_ATTENTION_FUNCTIONS), "__getitem__", _wrap_item))
            for name in sorted({type(module).__module__ for module in model.modules()}):
                if hasattr(sys.modules.get(name), EAGER):
                    stack.enter_context(_replace(sys.modules[name], EAGER, _wrap_eager))
        yield


@contextmanager
def _replace(owner: Any, name: str, wrap: Callable[[Function], Function]) -> Iterator[None]:
    """Inside the block, replace an attribute by its wrapped value; blocks of all threads share the replacement."""
    key = (id(owner), name)
    with _patching:
        if key not in _replaced:
            _replaced[key] = [0, vars(owner).get(name)]
            setattr(owner, name, wrap(getattr(owner, name)))
        _replaced[key][0] += 1
    try:
        yield
    finally:
        with _patching:
            _replaced[key][0] -= 1
            if _replaced[key][0] == 0:
                original = _replaced.pop(key)[1]
                if original is None:
                    delattr(owner, name)
                else:
                    setattr(owner, name, original)


def _wrap_choice(get: Function) -> Function:
    def get_interface(implementation: str, default: Function) -> Function:
        function: Function = get(implementation, default)
        return _wrap_function(function, "eager" if function is default else _kernel(implementation))

    return get_interface


def _wrap_item(get: Function) -> Function:
    def get_item(registry: Any, implementation: str) -> Function:
        return _wrap_function(get(registry, implementation), _kernel(implementation))

    return get_item


def _wrap_eager(function: Function) -> Function:
    def eager(*args: Any, **given: Any) -> Any:
        return _wrap_function(function, "eager")(*args, **given)

    return eager


def _kernel(implementation: str) -> str:
    """Return the family of an attention implementation: "flash" or "sdpa"."""
    return "flash" if "flash" in str(implementation) else "sdpa"


def _wrap_function(function: Function, kernel: str) -> Function:
    """Return the function itself, or in a recording thread a function that also notes its arguments."""
    return partial(_call_and_note, function, kernel) if _recorders() else function


def _call_and_note(  # noqa: PLR0913  # transformers' own signature
    function: Function,
    kernel: str,
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Any,
    *more: Any,
    **given: Any,
) -> Any:
    """Call the model's attention function, and pass its arguments and its output to this thread's recorders."""
    output = function(module, query, key, value, attention_mask, *more, **given)
    for recorder in _recorders():
        recorder.note(kernel, module, (query, key, value, attention_mask), given, output)
    return output


def _plain_module(model: Any) -> tuple[Any, bool]:
    """Return the module inside a compiled model, and True if it was compiled."""
    if not isinstance(model, torch.nn.Module):
        raise UserError(NO_MODULE.format(name=type(model).__name__))
    inner = getattr(model, "_orig_mod", None)
    return (inner, True) if isinstance(inner, torch.nn.Module) else (model, False)


def _models_inside(model: torch.nn.Module) -> tuple[Any, ...]:
    """Return the models of transformers among the modules, outermost first."""
    found = tuple(module for module in model.modules() if isinstance(module, PreTrainedModel))
    if not found:
        raise UserError(NO_MODEL.format(name=type(model).__name__))
    return found


@contextmanager
def _use_eager_code(recorder: Recorder) -> Iterator[None]:
    """Inside the block, run compiled code as plain code, since compiled code does not call the registry.

    Nothing changes if nothing was compiled.
    """
    if not recorder.compiled and "torch._dynamo" not in sys.modules:
        yield
        return
    with torch.compiler.set_stance("force_eager"):
        yield
