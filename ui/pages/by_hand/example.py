"""A small example of attention that a reader may change: its sizes, and what is said about its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attention.by_hand import Numbers, Worked
from ui.pages.by_hand.options import PRESETS, ByHand

TOKENS = (2, 8)  # fewest and most
WIDTH = (1, 8)  # columns of X, and of W_Q, W_K and W_V
LONGEST_NAME = 24  # letters of a token
LARGEST = 1e6  # size of a number
MATRICES = ("x", "w_q", "w_k", "w_v")


@dataclass(frozen=True, eq=False)
class Example:
    """The inputs, float64."""

    tokens: tuple[str, ...]
    x: Numbers  # (token, column)
    w_q: Numbers  # (column, width)
    w_k: Numbers  # (column, width)
    w_v: Numbers  # (column, width)

    def __eq__(self, other: object) -> bool:
        """Equal in every token and every number."""
        if not isinstance(other, Example) or self.tokens != other.tokens:
            return False
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in MATRICES)

    @property
    def width(self) -> int:
        """Columns of W_Q, W_K and W_V: heads · d_k."""
        return int(self.w_q.shape[1])


def preset_of(name: str) -> dict[str, Any]:
    """A preset as assets/by_hand.json has it."""
    return next(preset for preset in PRESETS if preset["name"] == name)


def example_of(name: str) -> Example:
    """A preset's inputs.

    >>> example_of("lookup").tokens
    ('one', 'two', 'three')
    """
    preset = preset_of(name)
    return Example(tuple(preset["tokens"]), *(np.array(preset[matrix], float) for matrix in MATRICES))


def resize(example: Example, tokens: int, columns: int, width: int) -> Example:
    """The example in other sizes: what is new is zero, what has no room is dropped from the end.

    >>> resize(example_of("lookup"), 4, 2, 3).tokens
    ('one', 'two', 'three', 'token 4')
    """
    names = (*example.tokens[:tokens], *(f"token {place + 1}" for place in range(len(example.tokens), tokens)))
    shapes = ((tokens, columns), *[(columns, width)] * 3)
    return Example(names, *(_fit(getattr(example, name), shape) for name, shape in zip(MATRICES, shapes, strict=True)))


def edited(example: Example, edits: Mapping[str, Mapping[int, Mapping[str, Any]]]) -> Example:
    """The example after what was typed into its tables: {matrix: {row: {column: value}}}.

    A column is counted from "1"; "token" is the name of a row of X. An emptied cell is 0, an emptied name "token 2".
    """
    names, changed = list(example.tokens), {name: getattr(example, name).copy() for name in MATRICES}
    for matrix, rows in edits.items():
        for row, cells in rows.items():
            for column, value in cells.items():
                if column == "token":
                    names[row] = str(value or "").strip()[:LONGEST_NAME] or f"token {row + 1}"
                else:
                    changed[matrix][row, int(column) - 1] = min(max(float(value or 0), -LARGEST), LARGEST)
    return Example(tuple(names), **changed)


def divisors(width: int) -> list[int]:
    """The numbers of heads that can share a width.

    >>> divisors(6)
    [1, 2, 3, 6]
    """
    return [heads for heads in range(1, width + 1) if width % heads == 0]


def settle(options: ByHand, example: Example) -> tuple[ByHand, list[str]]:
    """Options that fit the example, and a sentence for each that a link had otherwise."""
    notes = []
    if options.heads not in divisors(example.width):
        notes.append(f"{options.heads} heads cannot share {example.width} columns alike; one head is shown.")
        options = replace(options, heads=1)
    count = len(example.tokens)
    if options.shown >= options.heads:
        options = replace(options, shown=0)
    if any(place is not None and place >= count for place in (options.row, options.column)):
        options = replace(options, row=None, column=None)
    return options, notes


def pair(options: ByHand, worked: Worked) -> tuple[int, int]:
    """The query and key that are worked out: the chosen ones, else those of the shown head's largest weight."""
    if options.row is not None and options.column is not None:
        return options.row, options.column
    return strongest(worked, options.shown, options.causal)


def strongest(worked: Worked, head: int, causal: bool) -> tuple[int, int]:
    """The query and key of a head's largest weight; a causal first token, which sees itself only, does not count."""
    first = 1 if causal else 0
    weights = worked.weights[head, first:]
    row, column = np.unravel_index(int(weights.argmax()), weights.shape)
    return int(row) + first, int(column)


def largest(tokens: Sequence[str], worked: Worked, head: int, causal: bool) -> str:
    """One sentence about a head's largest weight, made from the numbers."""
    row, column = strongest(worked, head, causal)
    seen = row + 1 if causal else len(tokens)
    who = f"Head {head + 1}: " if worked.heads > 1 else ""
    target = "itself" if row == column else f"“{tokens[column]}”"
    free = " of a token that has a choice" if causal else ""
    return (
        f"{who}“{tokens[row]}” gives {target} {worked.weights[head, row, column]:.2f} of its attention, the largest "
        f"weight{free}; spread evenly, each of the {seen} tokens that it sees would have {1 / seen:.2f}."
    )


def printed_against(printed: Sequence[Sequence[float]], tokens: Sequence[str], worked: Worked) -> str:
    """What a tutorial prints as the weights of its first tokens, and what the softmax of its scores is."""
    given = np.array(printed)
    true, scores = worked.weights[0, : len(given)], worked.scaled[0, : len(given)]

    def rows(table: Numbers) -> str:
        return " and ".join(
            f"{' '.join(f'{weight:.2f}' for weight in row)} for “{token}”"
            for row, token in zip(table, tokens, strict=False)
        )

    said = f"A well-known tutorial prints the weights {rows(given)}; the softmax of its scores is {rows(true)}"
    apart = f", up to {np.abs(given - true).max():.2f} apart."
    turned = [not np.array_equal(row.argsort(), order.argsort()) for row, order in zip(given, scores, strict=True)]
    never = " A softmax keeps the order of the scores, whatever the scale; the printed weights do not."
    return said + apart + (never if all(turned) else "")


def _fit(matrix: Numbers, shape: tuple[int, int]) -> Numbers:
    fitted = np.zeros(shape)
    kept = matrix[: shape[0], : shape[1]]
    fitted[: kept.shape[0], : kept.shape[1]] = kept
    return fitted
