"""Steps of the small example: a matrix for each step, with the calculation of each of its cells."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attention.toy_example import EPSILON, Numbers, ToyAttention, ToyExample
from i18n import _, typeset_number
from ui.pages.by_hand.example import Example
from viz.components.matrices.matrices import MatrixSpec


def figure(number: float) -> str:
    """Format a number with two decimals, or with a single significant digit if it is below 0.005.

    Negative numbers and those with a power of ten are put in brackets, so that they can follow an operator.

    >>> figure(0.126), figure(-2.0), figure(0.0004), figure(2.5e9), figure(float("-inf"))
    ('0.13', '(−2.00)', '0.0004', '(2.5 × 10⁹)', '(−∞)')
    """
    size = abs(number)
    if size == float("inf"):
        text = "∞"
    elif size >= 1e5:
        text = f"{size:.3g}"
    else:
        text = f"{size:.2f}" if size >= 0.005 or size == 0 else f"{size:.1g}"
    return _add_brackets(typeset_number(text), number < 0)


def _add_brackets(size: str, is_negative: bool) -> str:
    return f"(−{size})" if is_negative else f"({size})" if "×" in size else size


def format_four_digits(number: float) -> str:
    """Format a number with four significant digits.

    >>> format_four_digits(0.038912), format_four_digits(-1.5)
    ('0.03891', '(−1.5)')
    """
    return _add_brackets(typeset_number(f"{abs(number):.4g}"), number < 0)


def format_sum(numbers: Iterable[float]) -> str:
    """Return a sum of numbers as text, such as "1 + 2".

    >>> format_sum([1, -0.5])
    '1.00 + (−0.50)'
    """
    return " + ".join(map(figure, numbers))


def dot(one: Numbers, other: Numbers) -> str:
    """Write out the dot product of two vectors of equal length.

    >>> import numpy as np
    >>> dot(np.array([1.0, 2.0]), np.array([-1.0, 0.5]))
    '1.00 × (−1.00) + 2.00 × 0.50'
    """
    return " + ".join(f"{figure(a)} × {figure(b)}" for a, b in zip(one, other, strict=True))


_CELL = re.compile(r"([a-z0-9]{1,12})-([0-9])-([0-9])")


@dataclass(frozen=True, eq=False)
class MatrixStep:
    """A matrix of the small example, with a function that writes out the calculation of each cell.

    ``how(row, column)`` returns the calculation as text without its result, or "" for an input of the example.
    """

    key: str  # name of the step in the address
    sheet: MatrixSpec
    how: Callable[[int, int], str]


def product(left: Numbers, right: Numbers) -> Callable[[int, int], str]:
    """Return a function that writes out the calculation of a cell (row, column) of ``left`` · ``right``."""
    return lambda row, column: dot(left[row], right[:, column])


def no_formula(_row: int, _column: int) -> str:
    """Return "": inputs are typed, so their cells have no calculation."""
    return ""


def cell_of(name: str, steps: Sequence[MatrixStep]) -> tuple[int, int, int] | None:
    """Return the selected cell as (index of the step, row, column); None if no step has it.

    ``name`` is the cell in the address: key of the step, row and column, such as "dot-0-1".
    """
    place = _CELL.fullmatch(name)
    keys = [step.key for step in steps]
    if place is None or place[1] not in keys:
        return None
    at, row, column = keys.index(place[1]), int(place[2]), int(place[3])
    tall, wide = steps[at].sheet.values.shape
    return (at, row, column) if row < tall and column < wide else None


def sum_of(step: MatrixStep, row: int, column: int) -> str:
    """Return a sentence on a cell: its matrix, row and column, then its calculation and its value."""
    sheet, value = step.sheet, figure(float(step.sheet.values[row, column]))
    names = {"matrix": sheet.name, "row": sheet.rows[row] if sheet.rows else str(row + 1)}
    if sheet.columns and sheet.columns[column]:
        place = _("{matrix}, “{row}” and “{column}”", column=sheet.columns[column], **names)
    else:
        place = _("{matrix}, “{row}”", **names)
    how = step.how(row, column)
    if not how:
        return _("{place}: {value}, as typed.", place=place, value=value)
    return _("{place}: {sum} = {value}.", place=place, sum=how, value=value)


def open_cell(steps: Sequence[MatrixStep], place: tuple[int, int, int] | None) -> list[MatrixSpec]:
    """Return the matrices of the steps, with the row and column of the selected cell marked."""
    sheets = [step.sheet for step in steps]
    if place is not None:
        at, row, column = place
        sheets[at] = replace(sheets[at], marked_rows=(row,), marked_columns=(column,))
    return sheets


PROJECTED = {"q": ("Q = X·W_Q", "w_q"), "k": ("K = X·W_K", "w_k"), "v": ("V = X·W_V", "w_v")}


def size_note(tokens: int, columns: int) -> str:
    """Return the size of a matrix as text: the number of tokens (rows) and the number of columns."""
    return _("{tokens} tokens × {columns}", tokens=tokens, columns=columns)


def number_columns(columns: int) -> tuple[str, ...]:
    """Return the column names "1", "2" and so on."""
    return tuple(str(column + 1) for column in range(columns))


def enter(example: Example, found: ToyExample) -> list[MatrixStep]:
    """Return the input matrices: X, and if positions are added, the position encodings P and the sum X + P."""
    count, columns = example.x.shape
    common: dict[str, Any] = {"rows": example.tokens, "columns": number_columns(columns)}
    x = MatrixStep(
        "x",
        MatrixSpec("X", example.x, note=size_note(count, columns), **common),
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
        MatrixStep("p", MatrixSpec("P", waves, note=size_note(count, columns), **common), wave),
        MatrixStep(
            "xp",
            MatrixSpec("X + P", found.x, note=size_note(count, columns), **common),
            lambda row, column: format_sum([example.x[row, column], waves[row, column]]),
        ),
    ]


def project(example: Example, found: ToyExample, head: int) -> list[MatrixStep]:
    """Return the matrices Q, K and V, with a row per token.

    If there are several heads, the columns of the shown head are marked.
    """
    worked = found.worked
    framed = tuple(range(head * worked.channels, (head + 1) * worked.channels)) if worked.heads > 1 else ()
    columns = number_columns(worked.result.shape[1])
    made = {"q": worked.queries, "k": worked.keys, "v": worked.values}

    note = size_note(len(example.tokens), len(columns))
    if framed:
        own = size_note(len(example.tokens), worked.channels)
        note = _(
            "{size} for {heads} heads; framed: head {head}, {own}", size=note, heads=worked.heads, head=head, own=own
        )
    return [
        MatrixStep(
            key,
            MatrixSpec(name, made[key], example.tokens, columns, note, marked_columns=framed),
            product(found.x, getattr(example, weight)),
        )
        for key, (name, weight) in PROJECTED.items()
    ]


def compare(example: Example, worked: ToyAttention, head: int, pair: tuple[int, int], scaled: bool) -> list[MatrixStep]:
    """Return a head's matrices from dot products to attention weights, each (query, key).

    The row and column of the selected ``pair`` (query, key) are marked. If ``scaled`` is True, the dot products are
    divided by √d_k.
    """
    names, who = example.tokens, _("head {head}", head=head) if worked.heads > 1 else ""
    framed: dict[str, Any] = {"marked_rows": pair[:1], "marked_columns": pair[1:]}
    common: dict[str, Any] = {"rows": names, "columns": names, **framed}
    own = _head_channels(worked, head)
    dots, scores, masked = worked.products[head], worked.scaled[head], worked.masked[head]
    powers, sums, shift = worked.powers[head], worked.sums[head], worked.shift[head]
    steps = [
        MatrixStep(
            "dot",
            MatrixSpec("Q·Kᵀ", dots, note=who, **common),
            product(worked.queries[:, own], worked.keys[:, own].T),
        )
    ]
    if scaled:
        root = f"√{worked.channels}"
        how = lambda row, column: f"{figure(dots[row, column])} / {root}"  # noqa: E731
        steps.append(MatrixStep("scaled", MatrixSpec(f"Q·Kᵀ / {root}", scores, note=who, **common), how))
    if bool(np.isinf(masked).any()):
        how = lambda row, column: _("masked") if column > row else figure(scores[row, column])  # noqa: E731
        steps.append(MatrixStep("masked", MatrixSpec(_("masked"), masked, note=who, **common), how))
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
    """Return the matrices of a softmax: exp, the sum of each row, and the probabilities.

    ``scores`` is the input, which ``letter`` denotes, and ``made`` is the result of ``attention.toy_example.softmax``.
    ``name`` is the title of the probabilities, ``who`` the name of the head or "", and ``common`` has the options of
    all matrices.
    """
    shift, powers, sums, shares = made
    moved = bool(shift.any())
    less = _("minus the row's largest {letter}", letter=letter) if moved else ""

    def power(row: int, column: int) -> str:
        taken = f" − {figure(shift[row])}" if moved else ""
        return f"e^({figure(scores[row, column])}{taken})"

    moving = " · ".join(filter(None, (who, less)))
    summed = " · ".join(filter(None, (who, _("each row sums to one"))))
    title = f"e^({letter} − max)" if moved else f"e^{letter}"
    rows = {name: value for name, value in common.items() if name in ("rows", "marked_rows")}
    return [
        MatrixStep(
            f"e{letter}",
            MatrixSpec(title, powers, note=moving, palette="sequential", **common),
            power,
        ),
        MatrixStep(
            f"sum{letter}",
            MatrixSpec(
                _("Sum"),
                sums[:, None],
                columns=(_("Sum"),),
                note=who,
                **rows,
            ),
            lambda row, _column: format_sum(powers[row]),
        ),
        MatrixStep(
            f"share{letter}",
            MatrixSpec(
                name,
                shares,
                note=summed,
                palette="sequential",
                limit=1.0,
                **common,
            ),
            lambda row, column: f"{figure(powers[row, column])} / {figure(sums[row])}",
        ),
    ]


def mix(example: Example, worked: ToyAttention, head: int, row: int) -> list[MatrixStep]:
    """Return the matrices of the output: values weighted by attention, and the concatenation of the heads."""
    tokens, many = example.tokens, len(example.tokens)
    single = MatrixSpec(
        "A·V" if worked.heads == 1 else _("A·V of head {head}", head=head),
        worked.mixed[head],
        tokens,
        number_columns(worked.channels),
        size_note(many, worked.channels),
        marked_rows=(row,),
    )
    steps = [MatrixStep("mix", single, product(worked.weights[head], worked.values[:, _head_channels(worked, head)]))]
    if worked.heads == 1:
        return steps
    labels = tuple(f"{h}·{c + 1}" for h in range(worked.heads) for c in range(worked.channels))
    note = size_note(many, len(labels))

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


def mix_heads(example: Example, found: ToyExample) -> list[MatrixStep]:
    """Return the matrix product of the concatenated heads and W_O."""
    common = _column_labels(example, found.joined)
    name = "A·V·W_O" if found.worked.heads == 1 else "Concat(heads)·W_O"
    note = size_note(len(example.tokens), found.joined.shape[1])
    return [
        MatrixStep("o", MatrixSpec(name, found.joined, note=note, **common), product(found.worked.result, example.w_o))
    ]


def residual_steps(example: Example, found: ToyExample) -> list[MatrixStep]:
    """Return the matrices after W_O: residual sum, LayerNorm, feed-forward, residual sum and LayerNorm.

    The list is empty if the example ends with the attention.
    """
    layer = found.layer
    if layer is None:
        return []
    common, inside = _column_labels(example, layer.added), _column_labels(example, layer.hidden)
    normed = _("each row normalised")
    return [
        MatrixStep(
            "add",
            MatrixSpec("X + O", layer.added, **common),
            _sum(found.x, found.joined),
        ),
        MatrixStep(
            "norm", MatrixSpec("N = LayerNorm", layer.normed, note=normed, **common), _norm_formula(layer.added)
        ),
        MatrixStep(
            "inner",
            MatrixSpec("N·W_1", layer.hidden, note=_("feed-forward, each token alone"), **inside),
            product(layer.normed, example.w_1),
        ),
        MatrixStep(
            "relu",
            MatrixSpec("ReLU", layer.active, **inside),
            lambda row, column: f"max(0, {figure(layer.hidden[row, column])})",
        ),
        MatrixStep(
            "outer",
            MatrixSpec("ReLU·W_2", layer.forward, **common),
            product(layer.active, example.w_2),
        ),
        MatrixStep(
            "add2",
            MatrixSpec("N + ReLU·W_2", layer.summed, **common),
            _sum(layer.normed, layer.forward),
        ),
        MatrixStep(
            "norm2", MatrixSpec("Y = LayerNorm", layer.closed, note=normed, **common), _norm_formula(layer.summed)
        ),
    ]


def next_word_steps(example: Example, found: ToyExample) -> list[MatrixStep]:
    """Return the matrices from the final vectors to the probabilities of the words."""
    name = "Y·Eᵀ" if found.layer is not None else "O·Eᵀ"
    common: dict[str, Any] = {"rows": example.tokens, "columns": example.words}
    logits = MatrixStep("logit", MatrixSpec(name, found.logits, **common), product(found.last, example.e.T))
    made = (found.shift, found.powers, found.sums, found.chances)
    return [logits, *softmax_steps("z", found.logits, made, "", common, _("next word"))]


def _column_labels(example: Example, matrix: Numbers) -> dict[str, Any]:
    return {"rows": example.tokens, "columns": number_columns(matrix.shape[1])}


def _sum(one: Numbers, other: Numbers) -> Callable[[int, int], str]:
    return lambda row, column: format_sum([one[row, column], other[row, column]])


def _norm_formula(rows: Numbers) -> Callable[[int, int], str]:
    def how(row: int, column: int) -> str:
        mean, variance = float(np.mean(rows[row])), float(np.var(rows[row]))
        above = f"({format_four_digits(rows[row, column])} − {format_four_digits(mean)})"
        return f"{above} / √({format_four_digits(variance)} + {EPSILON:.5f})"

    return how
