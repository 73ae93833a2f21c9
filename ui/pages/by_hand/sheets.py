"""The steps of the small example as matrices to look at, and one weight worked out in figures."""

from __future__ import annotations

from typing import Any

from attention.by_hand import Worked
from ui.pages.by_hand.example import Example
from viz.components.matrices.matrices import Sheet


def project(example: Example, worked: Worked, head: int) -> list[Sheet]:
    """X and its three projections, a row per token; the shown head's columns are framed where there are several."""
    count, columns = example.x.shape
    framed = tuple(range(head * worked.channels, (head + 1) * worked.channels)) if worked.heads > 1 else ()
    own = f"; columns of head {head + 1} framed" if framed else ""
    size = f"{count} tokens × {worked.result.shape[1]}"
    asked = {
        "Q = X·W_Q": (worked.queries, "what each token asks for"),
        "K = X·W_K": (worked.keys, "what each token is found by"),
        "V = X·W_V": (worked.values, "what each token hands on"),
    }
    return [
        Sheet("X", example.x, example.tokens, _counted(columns), f"{count} tokens × {columns}: the input"),
        *(
            Sheet(
                name, matrix, example.tokens, _counted(matrix.shape[1]), f"{size}: {what}{own}", marked_columns=framed
            )
            for name, (matrix, what) in asked.items()
        ),
    ]


def compare(example: Example, worked: Worked, head: int, pair: tuple[int, int]) -> list[Sheet]:
    """From dot products to weights: a row for each token that looks, a column for each that is looked at."""
    names, who = example.tokens, f"head {head + 1}: " if worked.heads > 1 else ""
    scores = {
        "Q·Kᵀ": (worked.products, "dot product of each query with each key"),
        f"Q·Kᵀ / √{worked.channels}": (worked.scaled, f"over √d_k, d_k = {worked.channels}"),
        "masked": (worked.masked, "−∞ where a token may not look"),
    }
    if not _hides(worked):
        del scores["masked"]
    common: dict[str, Any] = {"rows": names, "columns": names, "marked_rows": pair[:1], "marked_columns": pair[1:]}
    weights = Sheet(
        "A = softmax",
        worked.weights[head],
        note=f"{who}each row sums to one",
        palette="sequential",
        limit=1.0,
        **common,
    )
    return [*(Sheet(name, each[head], note=f"{who}{what}", **common) for name, (each, what) in scores.items()), weights]


def mix(example: Example, worked: Worked, head: int, row: int) -> list[Sheet]:
    """What comes out: each token's values mixed by its weights, and the heads side by side."""
    single = Sheet(
        "A·V" if worked.heads == 1 else f"A·V of head {head + 1}",
        worked.mixed[head],
        example.tokens,
        _counted(worked.channels),
        f"{len(example.tokens)} tokens × {worked.channels}: values mixed by the weights",
        marked_rows=(row,),
    )
    if worked.heads == 1:
        return [single]
    labels = tuple(f"{h + 1}·{c + 1}" for h in range(worked.heads) for c in range(worked.channels))
    note = f"{len(example.tokens)} tokens × {len(labels)}: {worked.heads} heads side by side"
    return [single, Sheet("Concat(heads)", worked.result, example.tokens, labels, note, marked_rows=(row,))]


def worked_line(example: Example, worked: Worked, head: int, pair: tuple[int, int]) -> str:
    """One weight in figures, from the query and the key on."""
    row, column = pair
    columns = slice(head * worked.channels, (head + 1) * worked.channels)
    terms = " + ".join(
        f"{_figure(q)} × {_figure(k)}"
        for q, k in zip(worked.queries[row, columns], worked.keys[column, columns], strict=True)
    )
    who = f"“{example.tokens[row]}” looks at “{example.tokens[column]}”"
    product = f"{who}: q·k = {terms} = {_figure(worked.products[head, row, column])}"
    scaled = f"/ √{worked.channels} = {_figure(worked.scaled[head, row, column])}"
    if worked.masked[head, row, column] == -float("inf"):
        return f"{product}, {scaled}, masked: −∞, softmax over the row → 0."
    return f"{product}, {scaled}, softmax over the row → {worked.weights[head, row, column]:.2f}."


def _hides(worked: Worked) -> bool:
    hidden: bool = bool((worked.masked == -float("inf")).any())
    return hidden


def _counted(columns: int) -> tuple[str, ...]:
    return tuple(str(column + 1) for column in range(columns))


def _figure(number: float) -> str:
    """Two decimals; a negative number in brackets, so that it can stand after a sign."""
    text = f"{number:.2f}".replace("-", "−")
    return f"({text})" if number < 0 and text != "−0.00" else text.lstrip("−")
