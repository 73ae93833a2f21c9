"""Traces from attention maps computed elsewhere: tensors of any library, arrays, or lists of numbers.

The number of axes decides how maps are read. (query, key) is a head, and (head, query, key) a layer. (layer, head,
query, key) and (layer, 1, head, query, key) are a whole model, with or without a batch of a single text. A sixth axis
before these has the steps of ``generate``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from attention.map_axes import (
    ABOVE,
    EXACT,
    InvalidAttention,
    Names,
    batched_array_error,
    fit,
    format_numbers,
    layer_shape_error,
    mapping_error,
    multiple_texts_error,
    not_finite_error,
    row_sum_error,
    scaled_weights_error,
    stacks_error,
)
from attention.mask import FloatArray
from attention.record import MapRecord
from attention.storage import dump
from attention.tokens import TokenRow
from attention.trace import ModelId, Trace
from i18n import _, format_or_list, gettext_lazy

__all__ = ["EXACT", "InvalidAttention", "first", "trace", "with_content_id"]

ROUNDED = 0.02  # tolerance between the weights of two passes in half precision
OUTPUTS = ("attentions", "encoder_attentions", "decoder_attentions", "cross_attentions")  # fields of a model output
ASK = gettext_lazy("an array (head, query, key) per layer, like outputs.attentions")


def trace(  # noqa: PLR0913  # the parts of a trace
    attentions: Any,
    source: TokenRow,
    target: TokenRow | None = None,
    texts: tuple[str, str | None] = ("", None),
    target_text: str | None = None,
    name: str = "",
    signed: bool = False,
) -> Trace:
    """Build a trace from attention maps.

    The tokens of ``source`` are queries and keys; if ``target`` is given, its tokens are the queries. ``texts`` has the
    text of ``source`` and the second text of a pair. The stack is "decoder" if no token attends to a later token.
    ``signed`` allows values from -1 to 1, such as attributions. The id of the trace is a hash of its content. Raise
    InvalidAttention with a message for users if the maps are invalid.

    >>> row = TokenRow(("a", "cat"), (0, 1), (0, 1), (0, 0), (None, None))
    >>> trace([[[1, 0], [0.25, 0.75]]], row).part
    'decoder'
    """
    looking = source if target is None else target
    maps = _read(attentions, signed, Names(len(looking), len(source), target is not None))
    looking = first(looking, maps[0].shape[1])  # the model may not have read the last generated token
    source, target = (looking, None) if target is None else (source, looking)
    part = "cross" if target is not None else "decoder" if _looks_back(maps) else "encoder"
    kind = {"cross": "encoder-decoder"}.get(part, part)
    made = Trace(
        id="",
        model=ModelId(name or _("given maps"), None, kind, _describe_maps(maps, signed)),
        text=texts[0],
        pair=texts[1],
        source=source,
        target=target,
        parts={part: tuple(MapRecord(block, signed) for block in maps)},
        target_text=target_text,
    )
    return with_content_id(made)


def with_content_id(made: Trace) -> Trace:
    """Return the trace with a hash of its content as its id, so that ids are unique."""
    return replace(made, id="given-" + hashlib.sha256(dump(replace(made, id=""))).hexdigest())


def first(row: TokenRow, count: int) -> TokenRow:
    """Return the first ``count`` tokens of a row, without its patch grid if it has one."""
    return TokenRow(**{name: values[:count] for name, values in vars(row).items() if name != "grid"})


def _read(attentions: Any, signed: bool, names: Names) -> list[FloatArray]:
    """Return the maps of each layer (head, query, key), validated against the names.

    The last name may be missing in the maps of generated text.
    """
    axes = _axes(attentions)
    array, name = _single_array(attentions)
    if array is not None and len(array.shape) == 5:
        attentions, axes = array, 5  # without a list around an array of all layers
    if array is not None and axes == 5 and array.shape[-4] != 1:
        raise batched_array_error(tuple(array.shape), names, name)
    if axes == 6:
        layers = _steps(attentions, names)
    elif axes in (4, 5):
        layers = _layers(_items(attentions), names)
    elif axes in (2, 3):
        layers = [_single_layer(attentions, 0)]
    else:
        raise InvalidAttention(_("The numbers are nested {axes} deep; give {ask}.", axes=axes, ask=ASK))
    if not layers:
        raise _empty_input_error(attentions)
    fit(
        layers,
        names.without_last() if axes == 6 and layers[0].shape[1] == names.queries - 1 else names,
        signed,
        _shape(attentions, layers[0].shape),
    )
    for at, block in enumerate(layers):
        _check(block, at, signed)
        block.setflags(write=False)
    return layers


def _shape(given: Any, layer: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of the array, or of the first layer of a list, at most the last four axes.

    For nested lists of numbers, return ``layer``.
    """
    while isinstance(given, list | tuple):
        given = given[0]
    shape = tuple(getattr(given, "shape", ()))
    return layer if len(shape) < 3 else shape[-4:]


def _single_array(given: Any) -> tuple[Any, str]:
    """Return the array in the input and the expression for it; (None, "") if the input has several arrays."""
    if hasattr(given, "shape"):
        return given, "attentions"
    if isinstance(given, list | tuple) and len(given) == 1 and hasattr(given[0], "shape"):
        return given[0], "attentions[0]"
    return None, ""


def _axes(values: Any) -> int:
    """Return the nesting depth of the numbers; raise InvalidAttention for other inputs."""
    if values is None:
        raise InvalidAttention(
            _(
                'The model reported no maps. Load it with attn_implementation="eager" and call it with '
                "output_attentions=True, or use headlight.explore."
            )
        )
    if fields := [name for name in OUTPUTS if getattr(values, name, None) is not None]:
        raise InvalidAttention(
            _(
                "Got a {name}; give its maps: {fields}.",
                name=type(values).__name__,
                fields=format_or_list([f"outputs.{field}" for field in fields]),
            )
        )
    if isinstance(values, Mapping):
        raise mapping_error(values)
    if getattr(values, "is_nested", False):
        raise InvalidAttention(_("Got a nested tensor. Give one text: tensor.unbind()[0]."))
    if hasattr(values, "shape"):
        return len(values.shape)
    if isinstance(values, Real):
        return 0
    if not isinstance(values, list | tuple):
        raise InvalidAttention(_("Got {name}; expected {ask}.", name=type(values).__name__, ask=ASK))
    if not values:
        raise _empty_input_error(values)
    return 1 + _axes(next((value for value in values if value is not None), None))


def _empty_input_error(values: Any) -> InvalidAttention:
    return InvalidAttention(_("Got an empty {name}; expected {ask}.", name=type(values).__name__, ask=ASK))


def _items(values: Any) -> list[Any]:
    return list(_array(values, _("The input"))) if hasattr(values, "shape") else list(values)


def _layers(given: list[Any], names: Names, step: int | None = None) -> list[FloatArray]:
    """Return the layers of a text, or of a step of ``generate``, each (head, query, key)."""
    if missing := [at for at, layer in enumerate(given) if layer is None]:
        raise InvalidAttention(
            _(
                "Layer {layers} has no map (None). Give [a for a in attentions if a is not None]; its layers "
                "count from 0.",
                layers=format_numbers(missing),
            )
        )
    arrays = [_array(layer, f"Layer {at}") for at, layer in enumerate(given)]
    shapes = [array.shape for array in arrays]
    if any(len(shape) == 4 and shape[0] != 1 for shape in shapes):
        raise multiple_texts_error(shapes, names, step)
    blocks = [_single_layer(array, at) for at, array in enumerate(arrays)]
    for at, block in enumerate(blocks):
        if block.shape != blocks[0].shape:
            raise layer_shape_error(at, block.shape, blocks[0].shape)
    return blocks


def _single_layer(values: Any, at: int) -> FloatArray:
    """Return a copy of a layer's maps, shape (head, query, key)."""
    block = _array(values, f"Layer {at}")
    if block.ndim == 4 and len(block) == 1:
        block = block[0]
    if block.ndim == 2:
        block = block[None]
    if block.ndim != 3 or not block.size:
        raise InvalidAttention(
            _(
                "Layer {layer} has the shape {shape}; expected (head, query, key) or (1, head, query, key).",
                layer=at,
                shape=block.shape,
            )
        )
    return np.array(block, dtype=np.float32, order="C")


def _array(values: Any, what: str) -> FloatArray:
    """Convert numbers of any library to a float32 array."""
    if getattr(values, "is_meta", False):
        raise InvalidAttention(_("Got a tensor on the device “meta”, without numbers. Load the weights and run again."))
    try:
        # Convert torch tensors without an import of torch; NumPy cannot read bfloat16 or memory of other devices.
        if hasattr(values, "detach"):
            values = values.detach().cpu()
            for plain, needed in (("dequantize", "is_quantized"), ("to_dense", "is_sparse")):
                values = getattr(values, plain)() if getattr(values, needed, False) else values
            if getattr(values, "is_complex", bool)():
                raise TypeError
            values = values.float().numpy()
        elif isinstance(values, list | tuple) and any(hasattr(value, "shape") for value in values):
            values = np.stack([_array(value, what) for value in values])
        with np.errstate(over="ignore"):  # overflow gives infinity, which _check rejects
            found = np.asarray(values.filled(0) if isinstance(values, np.ma.MaskedArray) else values)
            return found.astype(np.float32, casting="unsafe" if found.dtype == object else "same_kind", copy=False)
    except (TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise InvalidAttention(_("{what} is not an array of real numbers; give {ask}.", what=what, ask=ASK)) from error


def _steps(given: Any, names: Names) -> list[FloatArray]:
    """Return each layer's maps (head, query, key) from ``generate``, a tuple of layers per step."""
    steps = [_items(step) for step in _items(given)]
    if len(steps) in (2, 3):  # more tuples are steps
        parts = [[_array(block, _("The input")) for block in step if block is not None] for step in steps]
        if _are_stacks(parts):
            raise stacks_error(parts)
    if len({len(step) for step in steps}) > 1:
        raise InvalidAttention(_("The steps differ in layers; give all layers of every step."))
    if not hasattr(given, "shape") and _streams(steps):
        way = _(" If these are the maps of encoder and decoder, give attentions[0].") if len(steps) == 2 else ""
        said = _("Each layer has two streams, as in XLNet. Give the content stream: [h for h, g in attentions].")
        raise InvalidAttention(said + way)
    layers = [_layers(step, names, at) for at, step in enumerate(steps)]
    return [_stitch_steps(at, list(blocks), names) for at, blocks in enumerate(zip(*layers, strict=True))]


def _are_stacks(parts: list[list[FloatArray]]) -> bool:
    """Return True if tuples of layers are encoder, decoder and cross-attention, not the steps of ``generate``.

    The keys of a step are those of the step before and its own queries, or the step repeats all rows, or the keys
    include the unused columns of a static cache.
    """
    if any(not part or part[0].ndim < 3 for part in parts):
        return False
    first = [part[0] for part in parts]
    if len({block.shape for block in first}) == 1 and first[0].shape[-2] > 1:
        return len({len(part) for part in parts}) > 1  # equal numbers may be XLNet's two streams
    if all(a.shape[-1] == b.shape[-1] + a.shape[-2] or _repeats(b, a) for b, a in pairwise(first)):
        return False
    widths = {block.shape[-1] for block in first}
    return len(widths) > 1 or sum(block.shape[-2] for block in first) > first[0].shape[-1]


def _streams(steps: list[list[Any]]) -> bool:
    """Return True if each layer holds XLNet's two streams (h, g), not two steps of ``generate``.

    Steps of ``generate`` grow, and their maps are causal.
    """
    if any(len(step) != 2 or any(block is None for block in step) for step in steps):
        return False
    content, query = ([_array(step[at], _("The input")) for step in steps] for at in (0, 1))
    if any(block.ndim != 4 for block in (*content, *query)):
        return False
    alike = len({block.shape for block in content}) == 1
    square = content[0].shape[2] == content[0].shape[3] > 1
    if len(steps) > 1 or content[0].shape != query[0].shape:
        return alike and square
    return square and not _looks_back([*content[0], *query[0]])


def _stitch_steps(layer: int, steps: Sequence[FloatArray], names: Names) -> FloatArray:
    """Combine the steps of a generated text to the maps of a layer, shape (head, query, key).

    With a key–value cache, each step has the rows of its new tokens. Without a cache, each step repeats all rows.
    """
    width = steps[-1].shape[2]
    if any(step.shape[0] != steps[0].shape[0] or step.shape[2] > width for step in steps):
        raise InvalidAttention(
            _("In layer {layer}, a step's keys do not continue those of the step before.", layer=layer)
        )
    if len(steps) > 1 and all(map(_repeats, steps, steps[1:])):
        return steps[-1]
    rows = [np.pad(step, ((0, 0), (0, 0), (0, width - step.shape[2]))) for step in steps]
    whole = np.concatenate(rows, axis=1)
    tokens = whole.shape[1]
    # A static cache has unused columns at the end.
    reserved = not names.crossed and tokens < width and not whole[:, :, tokens:].any()
    return np.ascontiguousarray(whole[:, :, :tokens]) if reserved else whole


def _repeats(before: FloatArray, after: FloatArray) -> bool:
    """Return True if a step begins with all rows of the previous step, as without a key–value cache."""
    rows, cols = before.shape[-2:]
    return (
        after.shape[:-2] == before.shape[:-2]
        and after.shape[-2] > rows
        and after.shape[-1] >= cols
        and bool(np.allclose(after[..., :rows, :cols], before, atol=ROUNDED))
    )


def _check(block: FloatArray, at: int, signed: bool) -> None:
    """Raise InvalidAttention if values are not weights, or not between -1 and 1 if ``signed``."""
    if not np.isfinite(block).all():
        raise not_finite_error(block, at)
    least, most = float(block.min()), float(block.max())
    if signed:
        if (size := max(-least, most)) > 1 + ABOVE:
            raise InvalidAttention(
                _(
                    "Layer {layer} has values up to ±{size:.3g}; with signed=True the limit is 1. Divide "
                    "all layers: maps / abs(maps).max().",
                    layer=at,
                    size=size,
                )
            )
        return
    if least < 0:
        raise InvalidAttention(
            _(
                "Layer {layer} has negative weights, down to {least:.3g}. Are these scores or hidden "
                "states? Attributions from -1 to 1 need signed=True.",
                layer=at,
                least=least,
            )
        )
    sums = block.sum(axis=2)
    if sums.max() > 1 + ABOVE and (error := scaled_weights_error(sums, at)) is not None:
        raise error
    if most > 1 + ABOVE:
        raise InvalidAttention(
            _(
                "Layer {layer} has weights above 1, up to {most:.3g}. With dropout, call model.eval() "
                "first. Else divide all by the largest.",
                layer=at,
                most=most,
            )
        )
    if sums.max() > 1 + ABOVE:
        raise row_sum_error(block, sums, at)


def _looks_back(maps: list[FloatArray]) -> bool:
    """Return True if no token attends to a later token; left padding without attention is ignored."""
    seen = np.any([block.any(axis=0) for block in maps], axis=0)
    ahead = np.flatnonzero(np.triu(seen, 1).any(axis=1))
    text = int(ahead[-1]) + 1 if len(ahead) else 0
    return len(seen) - text > 1 and not seen[text:, :text].any()


def _describe_maps(maps: list[FloatArray], signed: bool) -> str:
    """Describe the input, with the range of row sums if some are below one."""
    if signed:
        return _("Maps with signed numbers")
    sums = [block.sum(axis=2) for block in maps]
    least, most = min(float(s.min()) for s in sums), max(float(s.max()) for s in sums)
    if least >= 1 - EXACT:
        return _("Maps")
    return _(
        "Maps (rows sum to {least:.3g} to {most:.3g}; up to {missing:.3g} of a row is missing)",
        least=least,
        most=most,
        missing=1 - least,
    )
