"""A check, on a short input, that a model prepared for recording gives the same output as before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from i18n import gettext_lazy
from inference.errors import UserError
from inference.pictures.image_processing import TEXT, reads, size_options, vision

TOKENS = 8  # models that pool characters or tokens fail on fewer
PATCHES = 4  # rows and columns of a picture


def inputs(model: Any) -> dict[str, Any]:
    """Return a tiny input for the forward pass: a few token ids, a blank picture or a silent sound."""
    config = model.config
    name = model.main_input_name
    if name == "pixel_values":
        return _picture(config)
    if name == "input_features":
        frames = 2 * config.max_source_positions
        sound = torch.zeros(1, config.num_mel_bins, frames)
        return {name: sound, "decoder_input_ids": _ids(model)}
    found = {"input_ids": _ids(model), "attention_mask": torch.ones(1, _tokens(model), dtype=torch.long)}
    if getattr(config, "is_encoder_decoder", False):
        found["decoder_input_ids"] = _ids(model)
    if hasattr(config, "vision_config"):
        found |= _picture(config)
    return found


def _ids(model: Any) -> Tensor:
    """Return token ids (1, token) that avoid the usual padding ids and fit a small vocabulary."""
    words = getattr(model.config.get_text_config(), "vocab_size", None) or 2 + TOKENS  # CANINE has no vocabulary
    return torch.arange(2, 2 + _tokens(model)).clamp(max=words - 1).unsqueeze(0)


def positions(model: Any) -> int | None:
    """Return the number of usable positions, or None if the configuration states none.

    RoBERTa-like tables reserve their first rows for padding, so a table of 514 rows has 512 usable positions.
    """
    stated = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if not isinstance(stated, int) or stated <= 0:
        return None
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and isinstance(padding, int):
            stated = min(stated, int(module.weight.shape[0]) - padding - 1)
    return stated


def _tokens(model: Any) -> int:
    """Return the number of tokens of the tiny text, fewer than TOKENS if the model has fewer positions."""
    most = positions(model)
    return TOKENS if most is None else max(1, min(TOKENS, most))


def _picture(config: Any) -> dict[str, Any]:
    """Return a blank picture, of few patches if the model reads any size.

    A picture of full size takes seconds.
    """
    own = vision(config)
    if reads(config.model_type) != TEXT:
        side = PATCHES * own.patch_size
        return {"pixel_values": torch.zeros(1, own.num_channels, side, side), **size_options(config)}
    size = own.image_size
    height, width = size if isinstance(size, (tuple, list)) else (size, size)
    return {"pixel_values": torch.zeros(1, own.num_channels, height, width)}


TOLERANCE, HALF_TOLERANCE = 1e-4, 2e-2  # relative to the largest absolute value, in float32 and in half precision
Place = tuple[str, int]  # a module's path and the number of its call


@dataclass(frozen=True, eq=False)
class ForwardOutputs:
    """The tensors that a forward pass of a model computes.

    ``output`` has the model's output tensors by name. ``modules`` has the output of each module call by (path, number
    of the call), in the order of completion.
    """

    output: Mapping[str, Tensor]
    modules: Mapping[Place, Tensor]

    @property
    def paths(self) -> set[str]:
        """Return the paths of the modules that ran in the pass."""
        return {path for path, _number in self.modules}


def run(model: Any, given: Mapping[str, Any], **options: Any) -> ForwardOutputs:
    """Run the model; return its output and the outputs of all its modules."""
    modules: dict[Place, Tensor] = {}
    with _keep_outputs(model, modules), torch.inference_mode(), same_noise():
        output = model(**given, **options)
    return ForwardOutputs(tensors(output), modules)


@contextmanager
def same_noise() -> Iterator[None]:
    """Inside the block, draw random numbers from seed 0; restore the generator's state afterwards."""
    state = torch.get_rng_state()
    torch.default_generator.manual_seed(0)  # torch.manual_seed would also seed the accelerators
    try:
        yield
    finally:
        torch.set_rng_state(state)


def tensors(output: Any) -> dict[str, Tensor]:
    """Return the floating-point tensors of a model's output by name; attention maps and caches are left out.

    >>> list(tensors({"logits": torch.ones(2), "text": {"last": torch.ones(2)}, "attentions": ()}))
    ['logits', 'text.last']
    """
    named = output.items() if hasattr(output, "items") else enumerate(output if isinstance(output, tuple) else [output])
    found: dict[str, Tensor] = {}
    for name, value in named:
        if isinstance(value, Mapping):
            found |= {f"{name}.{inner}": tensor for inner, tensor in tensors(value).items()}
        elif isinstance(value, Tensor) and value.is_floating_point():
            found[str(name)] = value
    return found


def differs(own: Tensor, traced: Tensor) -> float | None:
    """Return the largest absolute difference between two outputs, or None if it is within the tolerance.

    The tolerance is relative to the largest value of ``own``, and larger in half precision. Return infinity if the
    shapes differ.

    >>> differs(torch.tensor([1.0, -20.0]), torch.tensor([1.0, -20.001])) is None
    True
    >>> differs(torch.tensor([1.0, -2.0]), torch.tensor([1.0, -2.5]))
    0.5
    """
    if own.shape != traced.shape:
        return float("inf")
    if not own.numel():
        return None
    half = own.dtype in (torch.float16, torch.bfloat16) or traced.dtype in (torch.float16, torch.bfloat16)
    own, traced = own.detach().to("cpu", torch.float64), traced.detach().to("cpu", torch.float64)
    same = (own == traced) | (own.isnan() & traced.isnan())  # equal infinities too, whose difference would be NaN
    off = (own - traced).masked_fill(same, 0).abs()
    most = float(own[own.isfinite()].abs().max()) if bool(own.isfinite().any()) else 0.0
    largest = float(off.max())
    return None if largest <= (HALF_TOLERANCE if half else TOLERANCE) * most else largest


def is_same_output(own: ForwardOutputs, output: Any) -> bool:
    """Return True if ``output`` equals the model's own output within the tolerance, tensor by tensor.

    Return False if the model's own output has no tensors.
    """
    traced = tensors(output)
    return bool(own.output) and all(
        name in traced and differs(value, traced[name]) is None for name, value in own.output.items()
    )


def refusal(model: Any, own: ForwardOutputs, traced: ForwardOutputs) -> UserError:
    """Return a UserError that names the first module whose output differs between ``own`` and ``traced``.

    If no module differs, the error names the tensors that each pass returned.
    """
    first = _first(own, traced)
    if first is None:
        return UserError(
            gettext_lazy(
                "{name} cannot be traced: it returns {own}, its traced copy {traced}. Return the same "
                "tensors with and without attentions.",
                name=type(model).__name__,
                own=", ".join(own.output) or gettext_lazy("no tensor"),
                traced=", ".join(traced.output) or gettext_lazy("no tensor"),
            )
        )
    place, off, most = first
    return UserError(
        gettext_lazy(
            "{name} cannot be traced: its copy first differs at {module}, by {off:.2g} (largest value "
            "{most:.2g}). Set a standard attention implementation, such as sdpa.",
            name=type(model).__name__,
            module=place,
            off=off,
            most=most,
        )
    )


def _first(own: ForwardOutputs, traced: ForwardOutputs) -> tuple[str, float, float] | None:
    """Return the first module that differs: its path, the difference and its largest value.

    Return None if no output that both passes have differs.
    """
    outputs = [((name, 0), value) for name, value in own.output.items()]
    later = {**traced.modules, **{(name, 0): value for name, value in traced.output.items()}}
    for place, value in (*own.modules.items(), *outputs):
        off = differs(value, later[place]) if place in later else None
        if off is not None:
            finite = value[value.isfinite()].float()
            return place[0], off, float(finite.abs().max()) if finite.numel() else 0.0
    return None


@contextmanager
def _keep_outputs(model: Any, kept: dict[Place, Tensor]) -> Iterator[None]:
    """Keep a copy of the first tensor that each named module returns inside the block."""
    calls: Counter[str] = Counter()
    paths = {id(module): path for path, module in model.named_modules() if path}

    def keep(module: Any, _args: Any, output: Any) -> None:
        path = paths[id(module)]
        found = output[0] if isinstance(output, tuple | list) and output else output
        if isinstance(found, Tensor) and found.is_floating_point():
            kept[path, calls[path]] = found.clone()  # some models change this tensor in place
            calls[path] += 1

    handles = [module.register_forward_hook(keep) for path, module in model.named_modules() if path]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
