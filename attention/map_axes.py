"""Errors for attention maps that cannot be shown: they name the wrong axis and give code that fixes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attention.mask import FloatArray
from i18n import _, format_or_list

EXACT = 0.01  # tolerance below one of a row sum before it is mentioned
ABOVE = 0.01  # tolerance above one of a weight or a row sum, for softmax in half precision
UNEVEN = 0.05  # tolerance of equal row sums, for percentages that are rounded to integers
BANDS = (128, 256, 512, 1024)  # windows of published Longformer and LED models; maps have 1 or 2 more columns


class InvalidAttention(ValueError):
    """Raised if an input cannot be shown as attention maps; the message is for users."""


@dataclass(frozen=True)
class Names:
    """The numbers of query and key tokens, counted from the token names that the caller passed."""

    queries: int
    keys: int
    crossed: bool  # True if keys have separate names

    def without_last(self) -> Names:
        """Return a copy with one query fewer, and one key fewer if the keys are the same tokens.

        A model that generates a text never reads the last token that it generates.
        """
        return Names(self.queries - 1, self.keys if self.crossed else self.keys - 1, self.crossed)

    def describe(self) -> str:
        """Return the token counts in words, for an error message."""
        if self.crossed:
            return _("{queries} tokens and {keys} keys", queries=self.queries, keys=self.keys)
        return _("{queries} tokens", queries=self.queries)


def fit(maps: list[FloatArray], names: Names, signed: bool, shape: tuple[int, ...]) -> None:
    """Raise InvalidAttention if the last two axes of the maps differ from the numbers of token names.

    ``shape`` is the shape of the original input, for the message.
    """
    rows, cols = maps[0].shape[1:]
    if (rows, cols) == (names.queries, names.keys):
        return
    axis = (
        _("neither axis matches")
        if rows != names.queries and cols != names.keys
        else _("the query axis differs")
        if rows != names.queries
        else _("the key axis differs")
    )
    raise InvalidAttention(
        _(
            "The maps are {rows} × {cols} (query × key), but got {came}: {axis}. {hint}",
            rows=rows,
            cols=cols,
            came=names.describe(),
            axis=axis,
            hint=_suggest_fix(maps, names, signed, shape),
        )
    )


def _suggest_fix(maps: list[FloatArray], names: Names, signed: bool, shape: tuple[int, ...]) -> str:
    """Return advice on maps that do not match their names."""
    rows, cols = maps[0].shape[1:]
    weights = signed or all(_are_weights(block) for block in maps)
    if order := _order(shape, names):
        return _("Reorder the axes: tensor.permute{order} or array.transpose{order}.", order=order)
    padded = rows == cols and _has_padding(rows, cols, names)
    if not names.crossed and not padded and names.queries in shape[:-2] and names.queries not in (rows, cols):
        return _(
            "The axis of {size} is in the heads' place: swap the token and head axes of queries and "
            "keys before their product.",
            size=names.queries,
        )
    if rows == names.queries and not names.crossed and _is_band(maps, rows, cols):
        return _("Longformer and LED return a band of neighbours, not all keys. Use headlight.explore with the model.")
    if not weights:
        return _(
            "These are not attention weights. Give outputs.attentions, of a model loaded with "
            'attn_implementation="eager".'
        )
    if names.crossed and (rows, cols) == (names.keys, names.queries):
        return _("Tokens and keys are swapped: tokens name rows, keys columns.")
    if names.crossed:
        return _("Tokens name rows, keys columns; take both from the ids that the model read.")
    if padded:
        crop = _(
            "Crop the padding: a[..., :{queries}, :{keys}], or left padding: a[..., -{queries}:, -{keys}:].",
            queries=names.queries,
            keys=names.keys,
        )
        if len(shape) == 4 and shape[0] > 1:
            crop += _(" If the first axis of {size} counts texts, select one: a[:1].", size=shape[0])
        return crop
    if rows == names.queries or cols == names.queries:
        return _(
            "In cross-attention, tokens name the rows ({rows}), keys=[…] the columns ({cols}).",
            rows=rows,
            cols=cols,
        )
    return _("Name the model's tokens: tokenizer.convert_ids_to_tokens(inputs.input_ids[0]).")


def _order(shape: tuple[int, ...], names: Names) -> tuple[int, ...] | None:
    """Return the permutation that puts query and key last, or None if it is not unique."""
    axes = range(len(shape))
    ends = [(q, k) for q in axes for k in axes if q != k and (shape[q], shape[k]) == (names.queries, names.keys)]
    if names.queries == names.keys:
        ends = [(q, k) for q, k in ends if q < k]
    if len(ends) != 1 or names.crossed:
        return None
    rest = [axis for axis in axes if axis not in ends[0]]
    return (*rest, *ends[0])


def _are_weights(block: FloatArray) -> bool:
    """Return True if a layer holds weights, percentages included."""
    if not np.isfinite(block).all() or block.min() < 0:
        return False
    sums = block.sum(axis=2)
    return bool(sums.max() <= 1 + ABOVE) or scaled_weights_error(sums, 0) is not None


def _is_band(maps: list[FloatArray], rows: int, cols: int) -> bool:
    """Return True if the columns are the local window and global tokens of Longformer.

    A band of ``window`` + 1 columns after ``extra`` global columns is zero for neighbours outside the text.
    """
    if cols - 1 in BANDS or cols - 2 in BANDS:
        return True
    seen = np.any([block.any(axis=0) for block in maps], axis=0)
    for window in range(4, cols, 2):
        extra = cols - 1 - window
        if seen[0, extra : extra + window // 2].any():
            continue
        key = np.arange(rows)[:, None] + np.arange(window + 1) - window // 2
        if not seen[:, extra:][(key < 0) | (key >= rows)].any() and seen[:, extra:].any():
            return True
    return False


def layer_shape_error(at: int, shape: tuple[int, ...], first: tuple[int, ...]) -> InvalidAttention:
    """Return the error for layers with different shapes (head, query, key).

    ``shape`` is the shape of the layer ``at``, and ``first`` that of layer 0.
    """
    axes = (_("head"), _("query"), _("key"))
    differing = next(axis for axis, one, other in zip(axes, shape, first, strict=True) if one != other)
    return InvalidAttention(
        _(
            "Layer {layer} has the shape {shape}, layer 0 {first}: the {axis} axis differs. Give "
            "layers of one shape, such as [attentions[{layer}]].",
            layer=at,
            shape=shape,
            first=first,
            axis=differing,
        )
    )


def batched_array_error(shape: tuple[int, ...], names: Names, whole: str) -> InvalidAttention:
    """Return the error for an array whose leading axes may be layers or texts, with code for both cases.

    ``shape`` is the shape of the array, and ``whole`` the user's expression for it, for the suggested code.
    """
    crop = f"[..., :{names.queries}, :{names.keys}]" if _has_padding(shape[-2], shape[-1], names) else ""
    return InvalidAttention(
        _(
            "{whole} has the shape {shape}. For (text, layer, head, query, key), give {texts_first}. "
            "For (layer, text, head, query, key), give {layers_first}.",
            whole=whole,
            shape=shape,
            texts_first=f"{whole}[0]{crop}",
            layers_first=f"{whole}[:, :1]{crop}",
        )
        if len(shape) > 4
        else _(
            "{whole} has the shape {shape}. For (layer, head, query, key), give {layers}. For (text, "
            "head, query, key), give {texts}.",
            whole=whole,
            shape=shape,
            layers=f"{whole}{crop}",
            texts=f"{whole}[:1]{crop}",
        )
    )


def mapping_error(given: Mapping[Any, Any]) -> InvalidAttention:
    """Return the error for a dictionary of maps; the message lists its entries."""
    keys = list(given)
    if not keys or all(isinstance(key, int) for key in keys):
        return InvalidAttention(
            _(
                "Got {name}; give its layers: list(attentions.values()).",
                name=type(given).__name__,
            )
        )
    entries = [f"attentions[{key!r}]" for key in keys[:3]]
    return InvalidAttention(
        _(
            "Got {name}; give one of its entries: {entries}.",
            name=type(given).__name__,
            entries=format_or_list(entries),
        )
    )


def stacks_error(parts: Sequence[Sequence[FloatArray]]) -> InvalidAttention:
    """Return the error for maps of several stacks together, such as encoder and decoder.

    The message names the size of the maps of each stack.
    """
    entries = [
        _("attentions[{at}] ({rows} × {cols})", at=at, rows=part[0].shape[-2], cols=part[0].shape[-1])
        for at, part in enumerate(parts)
    ]
    return InvalidAttention(
        _(
            "Got several tuples of layers, like encoder and decoder. Give one: {entries}. "
            "Cross-attention also needs keys=[…].",
            entries=format_or_list(entries),
        )
    )


def scaled_weights_error(sums: FloatArray, at: int) -> InvalidAttention | None:
    """Return the error for rows that all sum to the same number above one, or None if they do not.

    Rows that sum to 100 are percentages, for example. ``sums`` (head, query) are the row sums of the layer ``at``. Rows
    without any weight are ignored.
    """
    rows = sums[sums > 0]
    whole = round(float(np.median(rows)), 2)
    if whole < 1.5 or np.abs(rows / whole - 1).max() > UNEVEN:  # sums that dropout increases
        return None
    if abs(whole / 100 - 1) <= UNEVEN:
        return InvalidAttention(
            _(
                "The rows of layer {layer} sum to 100. Divide all layers: [a / 100 for a in attentions].",
                layer=at,
            )
        )
    return InvalidAttention(
        _(
            "The rows of layer {layer} sum to {whole:.4g}; the limit is 1. Divide all layers by {whole:.4g}.",
            layer=at,
            whole=whole,
        )
    )


def multiple_texts_error(shapes: list[tuple[int, ...]], names: Names, step: int | None) -> InvalidAttention:
    """Return the error for maps of several texts, windows or beams, with code that selects a single map.

    ``shapes`` are the shapes of the layers. ``step`` is None unless the maps are those of the steps of ``generate``.
    """
    texts, rows, cols = shapes[0][0], *shapes[0][-2:]
    if step is not None:
        return InvalidAttention(
            _(
                "Each step has {texts} sequences: texts or beams. The first text: [[a[:1] for a in "
                "step] for step in out.attentions]. The best beam: [[a[b:b+1] for a in step] for step, "
                "b in zip(out.attentions, out.beam_indices[0].tolist()) if b >= 0].",
                texts=texts,
            )
        )
    if len(set(shapes)) > 1:
        return InvalidAttention(
            _(
                "Layer 0 has the shape {first}, another layer {other}: windows of a picture, as in Swin. Give one "
                "window: attentions[0][:1].",
                first=shapes[0],
                other=next(shape for shape in shapes if shape != shapes[0]),
            )
        )
    if not _has_padding(rows, cols, names):
        return InvalidAttention(
            _(
                "Layer 0 has {texts} texts or windows. Select the first: [a[:1] for a in attentions].",
                texts=texts,
            )
        )
    return InvalidAttention(
        _(
            "Layer 0 has {texts} padded texts of {rows} × {cols}. Crop one: [a[:1, :, :{queries}, "
            ":{keys}] for a in attentions], or with left padding [a[:1, :, -{queries}:, -{keys}:] for "
            "a in attentions].",
            texts=texts,
            rows=rows,
            cols=cols,
            queries=names.queries,
            keys=names.keys,
        )
    )


def _has_padding(rows: int, cols: int, names: Names) -> bool:
    """Return True if the maps are larger than their names, as in a padded batch."""
    return rows >= names.queries and cols >= names.keys and (rows, cols) != (names.queries, names.keys)


def not_finite_error(block: FloatArray, at: int) -> InvalidAttention:
    """Return the error for NaN or infinite weights; the message names the head and the rows.

    ``block`` (head, query, key) are the weights of the layer ``at``.
    """
    bad = ~np.isfinite(block)
    heads = np.flatnonzero(bad.any(axis=(1, 2)))
    head = int(heads[0])
    rows = np.flatnonzero(bad[head].any(axis=1))
    if np.isinf(block).any():
        hint = _(" Are these scores before the softmax?")
    else:
        hint = _(" A fully masked row becomes NaN: crop the padding.") if bad[head, rows[0]].all() else ""
    return InvalidAttention(
        _(
            "Head {layer}-{head} has {value} in row {rows}{more}; expected 0 to 1.{hint}",
            layer=at,
            head=head,
            value="NaN" if np.isnan(block[head]).any() else _("infinity"),
            rows=format_numbers(rows),
            more=_(", and {many} more heads", many=len(heads) - 1) if len(heads) > 1 else "",
            hint=hint,
        )
    )


def row_sum_error(block: FloatArray, sums: FloatArray, at: int) -> InvalidAttention:
    """Return the error for a row whose weights sum to more than one; the message names head and row."""
    head, row = np.unravel_index(int(sums.argmax()), sums.shape)
    columns = block.sum(axis=1)
    turned = bool((np.abs(columns - 1) <= EXACT).all())
    way = (
        _("The columns sum to 1: swap query and key, a.transpose(-1, -2).")
        if turned
        else _("With dropout, call model.eval() first. If heads were summed, divide by their number.")
    )
    return InvalidAttention(
        _(
            "Head {layer}-{head}: row {row} sums to {sum:.3g}; the limit is 1. {way}",
            layer=at,
            head=int(head),
            row=int(row),
            sum=float(sums.max()),
            way=way,
        )
    )


def format_numbers(numbers: Sequence[int] | Any, most: int = 5) -> str:
    """Format numbers as a list, shortened after the first ``most``.

    >>> format_numbers([3, 4]), format_numbers(range(9))
    ('3, 4', '0, 1, 2, 3, 4 …')
    """
    return ", ".join(str(int(number)) for number in numbers[:most]) + (" …" if len(numbers) > most else "")
