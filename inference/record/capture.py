"""Recording of a forward pass as NumPy arrays: queries, keys and values, or attention maps only.

Load a model with the attention implementation NAME, call ``prepare`` once, and call ``record`` from any number of
threads.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface, AutoModel
from transformers.masking_utils import sdpa_mask

from attention.edits import Edit
from attention.record import AnyRecord
from i18n import gettext_lazy
from inference.cancellation import CancelToken, use_token
from inference.errors import UserError
from inference.pictures.image_processing import tower
from inference.record import attention_call, edit_hooks, fidelity_check, records, reported_maps
from inference.record.attention_call import AttentionCall, part_names, refuse_uneven
from inference.record.attention_function import PATH, Tape, attend, record_attention
from inference.record.edit_hooks import HEADS, apply_edits, attention_layers
from inference.record.records import layer_modules, note_layers

__all__ = ["NAME", "Recording", "implementation", "install", "prepare", "record", "record_attention", "record_parts"]

log = logging.getLogger(__name__)

NAME = "headlight"
RECORDS = "_headlight_records"  # on a prepared model: True if its queries, keys and values can be recorded
WHOLE = {"encoder", "decoder", "cross"}  # the stacks of an encoder-decoder
# Forward passes of other libraries are known to raise these errors on inputs that they cannot read.
BROKEN = (RuntimeError, TypeError, ValueError, LookupError, AttributeError, AssertionError)


@dataclass(frozen=True, eq=False)
class Recording:
    """The attention records of a forward pass over a batch, and the model's output.

    ``parts`` has a dictionary for each sample that maps a stack to the records of its layers. The arrays are float32,
    read-only and free of padding.
    """

    parts: Sequence[Mapping[str, tuple[AnyRecord, ...]]]  # a dict for each sample: "encoder", "decoder", "cross"
    output: Any  # the model's output for the whole batch, in torch: logits or last hidden states


def install() -> None:
    """Register this package's attention function and mask function with transformers, under NAME.

    Without the mask function, padding would be ignored.
    """
    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, _mask)


_whole_masks: ContextVar[bool] = ContextVar("headlight_whole_masks", default=False)


def _mask(*args: Any, **kwargs: Any) -> Tensor | None:
    """Return sdpa's mask, or None if a kernel needs none and ``_asking_for_whole_masks`` is not active."""
    if _whole_masks.get():
        kwargs |= {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
    mask: Tensor | None = sdpa_mask(*args, **kwargs)
    return mask


@contextmanager
def _asking_for_whole_masks() -> Iterator[None]:
    token = _whole_masks.set(True)
    try:
        yield
    finally:
        _whole_masks.reset(token)


def implementation(config: Any) -> str:
    """Return the attention implementation for loading a model: NAME, or "eager" if the model's code rejects NAME."""
    try:
        with torch.device("meta"):
            AutoModel.from_config(config, attn_implementation=NAME)
    except KeyError:
        return "eager"
    return NAME


def prepare(model: Any) -> bool:
    """Prepare a loaded model; return True if its queries, keys and values can be recorded.

    If they cannot, the model is set to report attention maps only; this applies to an encoder-decoder if any of its
    stacks cannot be recorded. Raise ValueError if the model is not a transformers model or fails on a tiny input. Raise
    UserError if its attention cannot be shown as maps of its tokens.
    """
    if not hasattr(model, "config") or not hasattr(model, "main_input_name"):
        raise ValueError(
            f"{type(model).__name__} came, but a model of the transformers library was expected. "
            f'Load one with AutoModel.from_pretrained(..., attn_implementation="{NAME}").'
        )
    model.eval()
    model.requires_grad_(False)
    model.config.use_cache = False  # not needed for a whole text, and FSMT omits its causal mask with a cache
    for path, module in model.named_modules():
        setattr(module, PATH, path)
    _refuse_empty(model)
    with use_token(CancelToken()):  # all requests share the result, so a single request must not cancel it
        given = fidelity_check.inputs(model)
        own, setting = _own_pass(model, given)
        found = _is_recordable(model, given, own)
        if not found:
            _prepare_maps(model, given, own, setting)
    setattr(model, RECORDS, found)
    return found


def _refuse_empty(model: Any) -> None:
    """Raise UserError if a weight is empty, as after pruning every head of a layer.

    The kernel of torch divides by the number of heads and would end the process.
    """
    for name, weight in model.named_parameters():
        if weight.numel() == 0:
            raise UserError(
                gettext_lazy(
                    "{name} cannot be traced: its weight {weight} has no numbers. Load the unpruned model.",
                    name=type(model).__name__,
                    weight=name,
                )
            )


def _own_pass(model: Any, given: dict[str, Tensor]) -> tuple[fidelity_check.ForwardOutputs, str]:
    """Run the model with its own attention, then set the recorded attention.

    Return the outputs and the name of the model's own attention implementation. Raise ValueError if the model
    fails.
    """
    setting = str(getattr(model.config, "_attn_implementation", None) or "eager")
    if setting == NAME:
        setting = "sdpa" if getattr(model, "_supports_sdpa", False) else "eager"
        model.set_attn_implementation(setting)
        model.config._attn_implementation = setting  # noqa: SLF001  # some families ignore the public method
    try:
        own = fidelity_check.run(model, given)
    except BROKEN as error:
        raise ValueError(
            f"{type(model).__name__} failed on a tiny input: {error}. Its weights and its configuration may not fit."
        ) from error
    try:
        model.set_attn_implementation(NAME)
    except (ValueError, AttributeError, ImportError) as error:  # the model's finished maps are used instead
        log.info("%s takes no attention by name: %s", type(model).__name__, error)
    return own, setting


def _is_recordable(model: Any, given: dict[str, Tensor], own: fidelity_check.ForwardOutputs) -> bool:
    """Return True if a recorded pass has every stack and gives the model's own output.

    Raise UserError if some of its attention cannot be recorded, or does not cover whole texts or pictures.
    """
    try:
        output, calls = _record_pass(model, given)
        if _settle_causal(model, given, calls):
            output, calls = _record_pass(model, given)
    except BROKEN as error:  # some models need the masks of eager attention, and work with those
        log.info("%s does not run with recorded attention: %s", type(model).__name__, error)
        return False
    parts = part_names(model, calls)
    names = set(parts)
    found = names >= WHOLE if getattr(model.config, "is_encoder_decoder", False) else bool(names)
    if not found:
        return False
    _refuse_unseen(model, calls, own)
    _refuse_added_tokens(model, calls, parts, given)
    if not fidelity_check.is_same_output(own, output):
        log.info("%s gives another output with recorded attention", type(model).__name__)
        return False
    heads = [call.query.shape[1] for call in calls]
    by_part = {part: [n for n, name in zip(heads, parts, strict=True) if name == part] for part in parts}
    note_layers(model, calls, parts, own.paths)
    if len(by_part) == 1:
        [layers] = layer_modules(model).values()
        edit_hooks.prepare_growth(model, layers, given)
    records.parts(model, calls, given, (None, None))
    refuse_uneven(model, by_part)  # last, because windows of a picture raise a more precise error
    return True


def _refuse_added_tokens(
    model: Any, calls: Sequence[AttentionCall], parts: Sequence[str], given: dict[str, Tensor]
) -> None:
    """Raise UserError if an attention has more or fewer positions than the text has tokens.

    Soft prompts, for example, add positions.
    """
    if "pixel_values" in given:
        return
    counts = reported_maps.token_counts(given)
    for call, part in zip(calls, parts, strict=True):
        expected = tuple(counts[side] for side in reported_maps.SIDES[part])
        found = (call.query.shape[2], call.key.shape[2])
        for positions, tokens in zip(found, expected, strict=True):
            if tokens is not None and positions != tokens:
                raise UserError(
                    gettext_lazy(
                        "{name} cannot be traced: {module} reads {positions} positions; expected {tokens}, one per "
                        "token. With soft prompts, pass the base model.",
                        name=type(model).__name__,
                        module=call.path,
                        positions=positions,
                        tokens=tokens,
                    )
                )


def _record_pass(model: Any, given: dict[str, Tensor]) -> tuple[Any, list[AttentionCall]]:
    """Record a pass; return the output and the calls."""
    with record_attention() as tape, fidelity_check.same_noise():
        output = model(**given)
    return output, tape.calls


def _settle_causal(model: Any, given: dict[str, Tensor], calls: Sequence[AttentionCall]) -> bool:
    """Set is_causal on modules that lack it, as their masks indicate; return True if any lacked it.

    Eager attention hides only the keys that its mask hides, and no key if there is no mask.
    """
    if all(hasattr(model.get_submodule(call.path), "is_causal") for call in calls):
        return False
    with _asking_for_whole_masks():
        _output, whole = _record_pass(model, given)
    for call in whole:
        module = model.get_submodule(call.path)
        if not hasattr(module, "is_causal"):
            module.is_causal = call.mask is not None and _hides_later_keys(call.mask)
    return True


def _hides_later_keys(mask: Tensor) -> bool:
    """Return True if a mask hides every key after its query."""
    hidden = ~mask if mask.dtype == torch.bool else mask <= torch.finfo(mask.dtype).min / 2
    rows, columns = mask.shape[-2:]
    later = torch.ones(rows, columns, dtype=torch.bool, device=mask.device).triu(1)
    return rows == columns and bool(hidden[..., later].all())


def _refuse_unseen(model: Any, calls: Sequence[AttentionCall], own: fidelity_check.ForwardOutputs) -> None:
    """Raise UserError if an attention ran without being recorded, though its class is recorded elsewhere."""
    seen = {call.path for call in calls}
    classes = {type(model.get_submodule(path)) for path in seen}
    for path, module in model.named_modules():
        if type(module) in classes and path not in seen and path in own.paths:
            raise _replaced_forward_error(model, path)


def _replaced_forward_error(model: Any, path: str) -> UserError:
    return UserError(
        gettext_lazy(
            "{name} cannot be traced: the forward function of {module} was replaced. Restore it, or wrap the original.",
            name=type(model).__name__,
            module=path or "the model",
        )
    )


def _prepare_maps(model: Any, given: dict[str, Tensor], own: fidelity_check.ForwardOutputs, setting: str) -> None:
    try:
        reported_maps.prepare(model, given, own, setting)
    except reported_maps.NoMaps:
        changed = [path for path, module in model.named_modules() if "forward" in vars(module)]
        if changed:
            raise _replaced_forward_error(model, changed[0]) from None
        raise
    except UserError:
        raise
    except BROKEN as error:
        raise ValueError(
            f"{type(model).__name__} failed on a tiny input: {error}. Its weights and its configuration may not fit."
        ) from error


def record(  # noqa: PLR0913  # the inputs of a pass and the lengths of both sides
    model: Any,
    inputs: dict[str, Tensor],
    lengths: list[int] | None = None,
    target_lengths: list[int] | None = None,
    largest: int = reported_maps.LARGEST,
    edits: Sequence[Sequence[Edit]] = (),
) -> Recording:
    """Record a forward pass over a batch.

    ``lengths`` and ``target_lengths`` are the numbers of tokens of each right-padded sample. Attention masks in
    ``inputs`` mark padding on either side, and must agree with the lengths if both are given. ``largest`` limits the
    bytes of a text's maps if an architecture reports no queries and keys. ``edits`` has the edits of each sample
    (inference.record.edit_hooks). Raise ValueError for a model that is not prepared, lengths that do not fit, and texts
    that are too long.
    """
    if not hasattr(model, RECORDS):
        raise ValueError(f"{type(model).__name__} is not prepared. Call capture.prepare(model) once after loading it.")
    both = attention_call.both_spans(inputs, lengths, target_lengths)
    inputs = attention_call.with_mask(inputs, lengths)
    if not getattr(model, RECORDS) and not any(edits):
        return Recording(*reported_maps.parts(model, inputs, both, largest))
    with apply_edits(model, edits), record_attention(Tape(expected=_attentions(model))) as tape:
        output = tower(model, inputs)(**inputs)
    return Recording(records.parts(model, tape.calls, inputs, both), output)


def _attentions(model: Any) -> int:
    """Return the number of attention calls of a full pass, or 0 if it is not known."""
    return sum(len(attention_layers(model, part)) for part in getattr(model, HEADS, {}))


def record_parts(
    model: Any,
    inputs: dict[str, Tensor],
    lengths: list[int] | None = None,
    target_lengths: list[int] | None = None,
    edits: Sequence[Sequence[Edit]] = (),
) -> Sequence[Mapping[str, tuple[AnyRecord, ...]]]:
    """Record a forward pass like ``record``; return only the records of each sample, by stack."""
    return record(model, inputs, lengths, target_lengths, edits=edits).parts
