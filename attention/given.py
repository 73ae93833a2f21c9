"""Maps that somebody else computed, behind the same trace: tensors of any library, arrays, or lists of numbers.

What they are is told by how deep they are nested: (query, key) is one head; (head, query, key) one layer; one more
axis, the layers; one more, their batch of one text; one more, the steps of a text that was written token by token.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from attention.mask import Array
from attention.record import MapRecord
from attention.storage import dump
from attention.tokens import TokenRow
from attention.trace import ModelId, Trace
from wording import _, sentence

ABOVE = 0.01  # that a weight may be over one: a softmax in half precision rounds so
EXACT = 0.01  # that a row's sum may be off from one without its being said
ASK = sentence("an array (head, query, key) for each layer, as a model's outputs.attentions has them")


class NotMaps(ValueError):
    """What came cannot be shown as maps of attention, in one sentence."""


def trace(  # noqa: PLR0913  # the parts of one trace
    attentions: Any,
    source: TokenRow,
    target: TokenRow | None = None,
    texts: tuple[str, str | None] = ("", None),
    target_text: str | None = None,
    name: str = "",
    signed: bool = False,
) -> Trace:
    """Finished maps as a trace of ``source``; with ``target``, the rows are its tokens, which look at ``source``.

    ``texts`` are the text of ``source`` and the second one of a pair. Where nothing looks ahead, it is a decoder's.
    ``signed``: numbers from -1 to 1, such as attributions, and no weights. The trace's id is a hash of all that is in
    it. Raises NotMaps in one sentence.

    >>> row = TokenRow(("a", "cat"), (0, 1), (0, 1), (0, 0), (None, None))
    >>> trace([[[1, 0], [0.25, 0.75]]], row).part
    'decoder'
    """
    maps, written = _read(attentions, signed)
    looking = source if target is None else target
    if written and len(looking) == maps[0].shape[1] + 1:  # the last token was written and never read
        looking = first(looking, len(looking) - 1)
    source, target = (looking, None) if target is None else (source, looking)
    _fit(maps, looking, source)
    part = "cross" if target is not None else "decoder" if _looks_back(maps) else "encoder"
    kind = {"cross": "encoder-decoder"}.get(part, part)
    made = Trace(
        id="",
        model=ModelId(name or _("given maps"), None, kind, _said(maps, signed)),
        text=texts[0],
        pair=texts[1],
        source=source,
        target=target,
        parts={part: tuple(MapRecord(block, signed) for block in maps)},
        target_text=target_text,
    )
    return named(made)


def named(made: Trace) -> Trace:
    """The trace with a hash of all that is in it as its id, so that no other can pass for it."""
    return replace(made, id="given-" + hashlib.sha256(dump(replace(made, id=""))).hexdigest())


def first(row: TokenRow, count: int) -> TokenRow:
    """The first tokens of a row of text."""
    return TokenRow(**{name: values[:count] for name, values in vars(row).items() if name != "grid"})


def _read(attentions: Any, signed: bool) -> tuple[list[Array], bool]:
    """Each layer's maps (head, query, key), and whether they are of a text that was written step by step."""
    axes = _axes(attentions)
    if axes == 6:
        steps = [[_one(layer, at) for at, layer in enumerate(_items(step))] for step in _items(attentions)]
        if len({len(step) for step in steps}) > 1:
            raise NotMaps(_("The steps have different numbers of layers; give all layers of every step."))
        layers = [_stitched(at, list(blocks)) for at, blocks in enumerate(zip(*steps, strict=True))]
    elif axes in (4, 5):
        layers = [_one(layer, at) for at, layer in enumerate(_items(attentions))]
    elif axes in (2, 3):
        layers = [_one(attentions, 0)]
    else:
        raise NotMaps(_("What came is nested {axes} deep; give {ask}.", axes=axes, ask=ASK))
    if not layers:
        raise _nothing(attentions)
    for at, block in enumerate(layers):
        _check(block, at, signed)
        if block.shape != layers[0].shape:
            raise NotMaps(
                _(
                    "Layer {layer} has the shape {shape} and layer 0 {first}; every layer needs as many "
                    "heads and tokens.",
                    layer=at,
                    shape=block.shape,
                    first=layers[0].shape,
                )
            )
        block.setflags(write=False)
    return layers, axes == 6


def _axes(values: Any) -> int:
    """How deep numbers are nested."""
    if values is None:
        raise NotMaps(
            _(
                'The model reported no maps. Load it with attn_implementation="eager" and call it with '
                "output_attentions=True, or let headlight.explore read the text with it."
            )
        )
    if hasattr(values, "shape"):
        return len(values.shape)
    if isinstance(values, Real):
        return 0
    if not isinstance(values, list | tuple):
        raise NotMaps(_("{name} came where maps are expected; give {ask}.", name=type(values).__name__, ask=ASK))
    if not values:
        raise _nothing(values)
    return 1 + _axes(values[0])


def _nothing(values: Any) -> NotMaps:
    return NotMaps(_("An empty {name} came where maps are expected; give {ask}.", name=type(values).__name__, ask=ASK))


def _items(values: Any) -> list[Any]:
    return list(_array(values, _("What came"))) if hasattr(values, "shape") else list(values)


def _one(values: Any, at: int) -> Array:
    """One layer's maps, (head, query, key), in memory of their own."""
    block = _array(values, f"Layer {at}")
    if block.ndim == 4:
        if len(block) != 1:
            raise NotMaps(
                _(
                    "Layer {layer} holds {texts} texts; give one of them: [a[:1] for a in attentions].",
                    layer=at,
                    texts=len(block),
                )
            )
        block = block[0]
    if block.ndim == 2:
        block = block[None]
    if block.ndim != 3 or not block.size:
        raise NotMaps(
            _(
                "Layer {layer} has the shape {shape}; (head, query, key) or (1, head, query, key) is expected.",
                layer=at,
                shape=block.shape,
            )
        )
    return np.array(block, dtype=np.float32, order="C")


def _array(values: Any, what: str) -> Array:
    """Numbers of any library as float32."""
    try:
        if hasattr(values, "detach"):  # torch, told without importing it: numpy knows no bfloat16 and no other device
            values = values.detach().cpu().float().numpy()
        elif isinstance(values, list | tuple) and values and hasattr(values[0], "shape"):
            values = np.stack([_array(value, what) for value in values])
        with np.errstate(over="ignore"):  # what float32 cannot hold is refused as not finite
            return np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError, AttributeError) as error:
        raise NotMaps(
            _("{what} is no block of numbers with rows of one length; give {ask}.", what=what, ask=ASK)
        ) from error


def _stitched(layer: int, steps: Sequence[Array]) -> Array:
    """One layer of a text written token by token: each step's rows below the earlier ones, as wide as the last."""
    width = steps[-1].shape[2]
    if any(step.shape[0] != steps[0].shape[0] or step.shape[2] > width for step in steps):
        raise NotMaps(
            _("In layer {layer}, the keys of a step do not go on from those of the step before.", layer=layer)
        )
    rows = [np.pad(step, ((0, 0), (0, 0), (0, width - step.shape[2]))) for step in steps]
    return np.concatenate(rows, axis=1)


def _check(block: Array, at: int, signed: bool) -> None:
    if not np.isfinite(block).all():
        raise NotMaps(
            _(
                "Layer {layer} holds numbers that are not finite (NaN or infinity); a weight is between 0 and 1.",
                layer=at,
            )
        )
    least, most = float(block.min()), float(block.max())
    if signed:
        if (size := max(-least, most)) > 1 + ABOVE:
            raise NotMaps(
                _(
                    "Layer {layer} has numbers as far from zero as {size:.3g}; with signed=True they are from -1 to 1. "
                    "Divide all layers by the largest: maps / abs(maps).max().",
                    layer=at,
                    size=size,
                )
            )
        return
    if least < 0:
        raise NotMaps(
            _(
                "Layer {layer} has weights below zero, down to {least:.3g}: are these scores before the softmax? "
                "Shares from 0 to 1 can be shown. Numbers with signs such as attributions, from -1 to 1, are shown "
                "as such with signed=True.",
                layer=at,
                least=least,
            )
        )
    if most > 1 + ABOVE:
        raise NotMaps(
            _(
                "Layer {layer} has weights above one, up to {most:.3g}; a weight is between 0 and 1. Dropout makes "
                "such: call model.eval() first. Else divide all by the largest.",
                layer=at,
                most=most,
            )
        )


def _fit(maps: list[Array], queries: TokenRow, keys: TokenRow) -> None:
    rows, cols = maps[0].shape[1:]
    if (rows, cols) != (len(queries), len(keys)):
        two = queries is not keys
        came = (
            _("{queries} tokens and {keys} keys", queries=len(queries), keys=len(keys))
            if two
            else _("{queries} tokens", queries=len(queries))
        )
        hint = "" if two or rows == cols else _(" Tokens that look at another text need it: keys=[…].")
        raise NotMaps(
            _(
                "The maps are {rows} × {cols} (query × key); {came} came with them.{hint}",
                rows=rows,
                cols=cols,
                came=came,
                hint=hint,
            )
        )


def _looks_back(maps: list[Array]) -> bool:
    return maps[0].shape[1] > 1 and not any(np.triu(block, 1).any() for block in maps)


def _said(maps: list[Array], signed: bool) -> str:
    """What was given, and what the rows sum to, where that is not one."""
    if signed:
        return _("A set of maps whose numbers have signs")
    sums = [block.sum(axis=2) for block in maps]
    least, most = min(float(s.min()) for s in sums), max(float(s.max()) for s in sums)
    alike = abs(least - 1) <= EXACT and abs(most - 1) <= EXACT
    said = "" if alike else _(" (rows sum to {least:.3g} to {most:.3g})", least=least, most=most)
    return _("A set of maps{maps}", maps=said)
