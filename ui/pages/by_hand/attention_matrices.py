"""Steps of attention on the small example as matrices, and the calculation of a single weight."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attention.toy_example import Numbers, ToyAttention, ToyExample
from i18n import _, gettext_lazy, translate
from ui.pages.by_hand.example import Example
from ui.pages.by_hand.figures import dot, figure, format_sum
from ui.pages.by_hand.steps import MatrixStep, no_formula, product
from viz.components.matrices.matrices import MatrixSpec

PROJECTED = {
    "q": ("Q = X·W_Q", "w_q", gettext_lazy("queries")),
    "k": ("K = X·W_K", "w_k", gettext_lazy("keys")),
    "v": ("V = X·W_V", "w_v", gettext_lazy("values")),
}


def number_columns(columns: int) -> tuple[str, ...]:
    """Return the column names "1", "2" and so on."""
    return tuple(str(column + 1) for column in range(columns))


def enter(example: Example, found: ToyExample) -> list[MatrixStep]:
    """Return the steps of the input: X, and P and X + P if positions are added."""
    count, columns = example.x.shape
    common: dict[str, Any] = {"rows": example.tokens, "columns": number_columns(columns)}
    x = MatrixStep(
        "x",
        MatrixSpec(
            "X", example.x, note=_("{tokens} tokens × {columns}: the input", tokens=count, columns=columns), **common
        ),
        no_formula,
    )
    if found.positions is None:
        return [x]
    waves = found.positions

    def wave(row: int, column: int) -> str:
        name = "cos" if column % 2 else "sin"
        return f"{name}({row} / 10000^({column // 2 * 2}/{columns}))"

    return [
        x,
        MatrixStep("p", MatrixSpec("P", waves, note=_("sines and cosines of the position"), **common), wave),
        MatrixStep(
            "xp",
            MatrixSpec("X + P", found.x, note=_("input of attention"), **common),
            lambda row, column: format_sum([example.x[row, column], waves[row, column]]),
        ),
    ]


def project(example: Example, found: ToyExample, head: int) -> list[MatrixStep]:
    """Return the steps Q, K and V, with a row per token.

    With several heads, the columns of the shown head are marked.
    """
    worked = found.worked
    framed = tuple(range(head * worked.channels, (head + 1) * worked.channels)) if worked.heads > 1 else ()
    columns = number_columns(worked.result.shape[1])
    made = {"q": worked.queries, "k": worked.keys, "v": worked.values}

    def note(what: str) -> str:
        size = {"tokens": len(example.tokens), "columns": len(columns), "what": translate(what)}
        if not framed:
            return _("{tokens} tokens × {columns}: {what}", **size)
        return _("{tokens} tokens × {columns}: {what}; columns of head {head} framed", head=head + 1, **size)

    return [
        MatrixStep(
            key,
            MatrixSpec(name, made[key], example.tokens, columns, note(what), marked_columns=framed),
            product(found.x, getattr(example, weight)),
        )
        for key, (name, weight, what) in PROJECTED.items()
    ]


def compare(example: Example, worked: ToyAttention, head: int, pair: tuple[int, int], scaled: bool) -> list[MatrixStep]:
    """Return the steps from dot products to attention weights, each matrix (query, key)."""
    names, who = example.tokens, _("head {head}: ", head=head + 1) if worked.heads > 1 else ""
    framed: dict[str, Any] = {"marked_rows": pair[:1], "marked_columns": pair[1:]}
    common: dict[str, Any] = {"rows": names, "columns": names, **framed}
    own = _head_channels(worked, head)
    dots, scores, masked = worked.products[head], worked.scaled[head], worked.masked[head]
    powers, sums, shift = worked.powers[head], worked.sums[head], worked.shift[head]
    steps = [
        MatrixStep(
            "dot",
            MatrixSpec("Q·Kᵀ", dots, note=who + _("dot products"), **common),
            product(worked.queries[:, own], worked.keys[:, own].T),
        )
    ]
    if scaled:
        root = f"√{worked.channels}"
        note = who + _("over √d_k, d_k = {width}", width=worked.channels)
        how = lambda row, column: f"{figure(dots[row, column])} / {root}"  # noqa: E731
        steps.append(MatrixStep("scaled", MatrixSpec(f"Q·Kᵀ / {root}", scores, note=note, **common), how))
    if bool(np.isinf(masked).any()):
        note = who + _("−∞: masked")
        how = lambda row, column: _("a later token") if column > row else _("an earlier token or itself")  # noqa: E731
        steps.append(MatrixStep("masked", MatrixSpec(_("masked"), masked, note=note, **common), how))
    return [
        *steps,
        *softmax_steps("s", masked, (shift, powers, sums, worked.weights[head]), who, common, "A = softmax"),
    ]


def softmax_steps(  # noqa: PLR0913  # the parts of a softmax and their labels
    letter: str,
    scores: Numbers,
    made: tuple[Numbers, Numbers, Numbers, Numbers],
    who: str,
    common: dict[str, Any],
    name: str,
) -> list[MatrixStep]:
    """Return the steps of a softmax: exp, the sum of each row, and the probabilities.

    ``made`` is the result of ``attention.toy_example.softmax``.
    """
    shift, powers, sums, shares = made
    moved = bool(shift.any())
    less = _("minus the row's largest {letter}, against overflow", letter=letter) if moved else _("always above zero")

    def power(row: int, column: int) -> str:
        taken = f" − {figure(shift[row])}" if moved else ""
        return f"e^({figure(scores[row, column])}{taken})"

    title = f"e^({letter} − max)" if moved else f"e^{letter}"
    rows = {name: value for name, value in common.items() if name in ("rows", "marked_rows")}
    return [
        MatrixStep(f"e{letter}", MatrixSpec(title, powers, note=who + less, palette="sequential", **common), power),
        MatrixStep(
            f"sum{letter}",
            MatrixSpec(
                _("sum of each row"),
                sums[:, None],
                columns=(_("sum"),),
                note=who + _("sum"),
                **rows,
            ),
            lambda row, _column: format_sum(powers[row]),
        ),
        MatrixStep(
            f"share{letter}",
            MatrixSpec(name, shares, note=who + _("each row sums to one"), palette="sequential", limit=1.0, **common),
            lambda row, column: f"{figure(powers[row, column])} / {figure(sums[row])}",
        ),
    ]


def mix(example: Example, worked: ToyAttention, head: int, row: int) -> list[MatrixStep]:
    """Return the steps of the output: values weighted by attention, and the concatenation of the heads."""
    tokens, many = example.tokens, len(example.tokens)
    single = MatrixSpec(
        "A·V" if worked.heads == 1 else _("A·V of head {head}", head=head + 1),
        worked.mixed[head],
        tokens,
        number_columns(worked.channels),
        _("{tokens} tokens × {columns}: weighted values", tokens=many, columns=worked.channels),
        marked_rows=(row,),
    )
    steps = [MatrixStep("mix", single, product(worked.weights[head], worked.values[:, _head_channels(worked, head)]))]
    if worked.heads == 1:
        return steps
    labels = tuple(f"{h + 1}·{c + 1}" for h in range(worked.heads) for c in range(worked.channels))
    note = _("{tokens} tokens × {columns}: {heads} heads", tokens=many, columns=len(labels), heads=worked.heads)

    def beside(at: int, column: int) -> str:
        return dot(worked.weights[column // worked.channels][at], worked.values[:, column])

    return [
        *steps,
        MatrixStep(
            "beside", MatrixSpec("Concat(heads)", worked.result, tokens, labels, note, marked_rows=(row,)), beside
        ),
    ]


def worked_line(example: Example, worked: ToyAttention, head: int, pair: tuple[int, int], scaled: bool = True) -> str:
    """Write out the calculation of a single weight, from its query and key to the softmax."""
    row, column = pair
    own = _head_channels(worked, head)
    looks = {"token": example.tokens[row], "other": example.tokens[column]}
    terms = dot(worked.queries[row, own], worked.keys[column, own])
    made = f"q·k = {terms} = {figure(worked.products[head, row, column])}"
    if scaled:
        made += f", / √{worked.channels} = {figure(worked.scaled[head, row, column])}"
    if worked.masked[head, row, column] == -math.inf:
        return _("“{token}” to “{other}”: {sum}, masked: −∞, softmax → 0.", sum=made, **looks)
    weight = worked.weights[head, row, column]
    return _("“{token}” to “{other}”: {sum}, softmax → {weight:.2f}.", sum=made, weight=weight, **looks)


def _head_channels(worked: ToyAttention, head: int) -> slice:
    return slice(head * worked.channels, (head + 1) * worked.channels)
