"""The steps of one weight as sheets: vectors as colour strips, tokens down, channels or keys across."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.mask import Array
from attention.steps import Made, Walk, Weighing
from attention.wiring import Branch, Norm, Wiring
from viz.components.matrices.matrices import Sheet
from wording import _, sentence, told

USUAL = 0.99  # of the numbers of the stream that the colours tell apart
SCORE = sentence("score")
SCORES = {  # by what was added: a bias, a mask
    (False, False): SCORE,
    (True, False): sentence("score, with bias"),
    (False, True): sentence("score, with mask"),
    (True, True): sentence("score, with bias and mask"),
}
STAGES = {"projected": "x·W + b", "normed": sentence("after its norm"), "rotated": sentence("turned by its position")}


def norm_name(norm: Norm) -> str:
    """What a norm is called.

    >>> norm_name(Norm("rms", 1e-6))
    'RMSNorm'
    """
    return "LayerNorm" if norm.kind == "layer" else "RMSNorm"


def incoming(stream: Array, normed: Array | None, norm: Norm | None, names: Sequence[str]) -> list[Sheet]:
    """The vectors that come in, (token, channel), and what the norm before makes of them."""
    sheets = [_clipped("x", stream, tuple(names))]
    if normed is not None and norm is not None:
        sheets.append(Sheet(f"{norm_name(norm)}(x)", normed, tuple(names), note=_("What goes on to the matrices.")))
    return sheets


def encoded(memory: Array, names: Sequence[str]) -> Sheet:
    """The encoder's output, (key, channel), from which cross-attention takes keys and values."""
    return _clipped(_("m, the encoder's output"), memory, tuple(names))


def stages(name: str, made: Made, branch: Branch, head: int, token: int) -> Sheet:
    """One query or key through its stages, (stage, channel)."""
    titles = STAGES if branch.bias is not None else {**STAGES, "projected": "x·W"}
    found = [(title, getattr(made, field)) for field, title in titles.items()]
    rows = [(told(title), stage[head, token]) for title, stage in found if stage is not None]
    channels = len(rows[0][1])
    note = (
        _("1 × {channels} channels, from one matrix.", channels=channels)
        if len(rows) == 1
        else _("1 × {channels} channels, from top to bottom.", channels=channels)
    )
    return Sheet(name, np.stack([values for _, values in rows]), tuple(title for title, _ in rows), note=note)


def every(name: str, vectors: Array, names: Sequence[str], marked: int | None) -> Sheet:
    """The vectors of all keys shown, (key, channel)."""
    note = _("A row a token, {channels} channels.", channels=vectors.shape[1])
    return Sheet(name, vectors, tuple(names), note=note, marked_rows=() if marked is None else (marked,))


def scores(weighing: Weighing, shown: Array, who: str, names: Sequence[str], marked: int | None) -> list[Sheet]:
    """From dot products to scores, a strip (1, key) for each step that this layer has; ``who`` looks."""
    bias = weighing.bias if weighing.bias is not None and weighing.bias.any() else None
    steps = {
        "q · k": weighing.dots,
        f"× {weighing.scale:.4g}": weighing.scaled,
        sentence("after the soft cap"): weighing.capped,
        sentence("bias"): bias,
        SCORES[bias is not None, not weighing.allowed.all()]: weighing.scores,
    }
    if bias is None and weighing.allowed.all():
        del steps[SCORE]
    return [
        Sheet(told(name), values[:, shown], (who,), tuple(names), marked_columns=_marks(marked))
        for name, values in steps.items()
        if values is not None
    ]


def matrix(name: str, weights: Array) -> Sheet:
    """One of the head's own matrices, (channel of the head, channel of the stream)."""
    rows = tuple(str(at) for at in range(len(weights)))
    note = _(
        "A row for each of the head's {heads_own} channels, a column for each of {stream} in the stream.",
        heads_own=len(weights),
        stream=weights.shape[1],
    )
    return Sheet(name, weights, rows, note=note)


def weights(values: Array, who: str, names: Sequence[str], marked: int | None) -> Sheet:
    """The weights of one row, (key,)."""
    note = _("These {n} sum to {total:.2f}.", n=len(values), total=values.sum())
    row, columns = values[None], tuple(names)
    return Sheet(_("weight"), row, (who,), columns, note=note, palette="sequential", marked_columns=_marks(marked))


def gathered(weights: Array, values: Array, shown: Array, names: Sequence[str], marked: int | None) -> list[Sheet]:
    """Weighted values (key, channel), those not shown as one row, and their sum."""
    parts = weights[:, None] * values
    rows, titles = parts[shown], list(names)
    if len(shown) < len(parts):
        rest = parts.sum(axis=0) - rows.sum(axis=0)
        rows, titles = np.concatenate([rows, rest[None]]), [*titles, _("{n} others", n=len(parts) - len(shown))]
    marks = () if marked is None else (marked,)
    return [
        Sheet(_("weight × v"), rows, tuple(titles), note=_("Each value times its weight."), marked_rows=marks),
        Sheet(_("z, their sum"), parts.sum(axis=0, keepdims=True), ("z",), note=_("What this head hands on.")),
    ]


def joined(way: Walk, head: int, base: int) -> list[Sheet]:
    """All heads' sums (head, channel), as they are laid side by side, and what W_O makes of them."""
    heads, channels = way.context.shape[0], way.context.shape[2]
    names = tuple(_("head {head}", head=at + base) for at in range(heads))
    note = _(
        "{heads} heads of {channels} channels; side by side they are one vector of {width}.",
        heads=heads,
        channels=channels,
        width=heads * channels,
    )
    return [
        Sheet(_("z of every head"), way.context[:, 0], names, note=note, marked_rows=(head,)),
        Sheet(
            _("After W_O"),
            way.output[:1],
            ("a",),
            note=_("{channels} channels again, as many as x.", channels=way.output.shape[1]),
        ),
    ]


def ending(way: Walk, stream: Array, wiring: Wiring) -> Sheet:
    """The residual sum and the norms around it, a row each, (stage, channel)."""
    added = way.output if way.settled is None else way.settled
    found = {
        "a" if wiring.after is None else f"{norm_name(wiring.after)}(a)": added,
        "x": stream[way.rows],
        _("their sum"): way.summed,
        "" if wiring.closing is None else _("{norm}(sum)", norm=norm_name(wiring.closing)): way.closed,
    }
    rows = {name: values[0] for name, values in found.items() if values is not None}
    return _clipped(_("The way out"), np.stack(list(rows.values())), tuple(rows))


def compared(ours: Array, theirs: Array) -> list[Sheet]:
    """The result computed here and the model's own, (channel,) each, and their difference."""
    both = np.stack([ours, theirs])
    return [
        _clipped(_("Result"), both, (_("computed here"), _("the model's own"))),
        Sheet(_("Difference"), (ours - theirs)[None], (_("rounding"),), note=_("On a scale of its own.")),
    ]


def product(query: Array, key: Array) -> Sheet:
    """What one dot product sums, (channel,) each."""
    return Sheet(
        _("q × k of this pair"), (query * key)[None], ("q × k",), note=_("These {n} sum to q · k.", n=len(query))
    )


def _clipped(name: str, values: Array, rows: tuple[str, ...]) -> Sheet:
    """Vectors of the stream, in which a few channels are far larger than all others."""
    limit = float(np.quantile(np.abs(values), USUAL))
    channel = int(np.abs(values).max(axis=0).argmax())
    largest = float(values[np.abs(values[:, channel]).argmax(), channel])
    number = f"{largest:.2f}".replace("-", "−")
    note = _(
        "The largest number is {number}, in channel {channel}; the colours end at ±{limit:.2f}.",
        number=number,
        channel=channel,
        limit=limit,
    )
    return Sheet(name, values, rows, note=note, limit=limit if limit > 0 else None)


def _marks(marked: int | None) -> tuple[int, ...]:
    return () if marked is None else (marked,)
