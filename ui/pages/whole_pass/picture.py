"""The picture that zooms: parts of the stack by token, stages of a layer by token, the numbers of one stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from attention.stages.rows import Array, flat, place_of
from inference.questions.whole_pass import Stage
from ui.pages.whole_pass.asking import Asked
from ui.pages.whole_pass.names import place, title
from ui.pages.whole_pass.options import Options
from ui.show.matrices import draw_matrices
from ui.state.options import choose_own
from viz.components.matrices import matrices
from viz.components.matrices.matrices import Sheet

KEY = "whole_pass"
WIDEST, TALLEST = 256, 64  # numbers and tokens of a stage that are drawn
LIKELIEST = 12  # pieces of the vocabulary


def parts_of(stages: Sequence[Stage]) -> list[Stage]:
    """The last stage of each part, in the order in which they run."""
    runs = groupby(stages, key=lambda stage: (stage.side, stage.layer, stage.part))
    return [list(run)[-1] for _, run in runs]


def around(stages: Sequence[Stage], stage: Stage) -> list[Stage]:
    """The stages of the same layer, or of the same end of the model."""
    same = (stage.side, stage.layer, stage.layer is None and stage.part == "embeddings")
    return [one for one in stages if (one.side, one.layer, one.layer is None and one.part == "embeddings") == same]


def overview(asked: Asked, stages: Sequence[Stage], chosen: Stage, zoom: str, names: Callable[[Stage], str]) -> None:
    """Stages by token, how large what each gives a token is; a click goes one step closer."""
    drawn: list[list[Stage]] = []
    sheets: list[Sheet] = []
    for side, run in groupby(stages, key=lambda stage: stage.side):
        tokens = asked.tokens(side)
        mine = [stage for stage in run if len(asked.passed.spread[stage.number]) == len(tokens)]
        if not mine:
            continue
        drawn.append(mine)
        values = np.stack([asked.passed.spread[stage.number] for stage in mine])
        marked = [at for at, stage in enumerate(mine) if stage is chosen]
        sheets.append(
            Sheet(
                f"The {side}" if asked.two else "The pass",
                _shares(values),
                tuple(map(names, mine)),
                tuple(f"{at} {token}"[:14] for at, token in enumerate(tokens)),
                "Colour: the size of what a row gives a token (root mean square), as a share of its row's largest.",
                palette="sequential",
                limit=1.0,
                marked_rows=tuple(marked),
            )
        )
    draw_matrices(sheets, f"{KEY}_{zoom}", on_pick=partial(_closer, asked, drawn, zoom))


def _shares(values: Array) -> Array:
    found: Array = values / np.maximum(values.max(axis=1, keepdims=True), 1e-9)
    return found


def _closer(asked: Asked, drawn: Sequence[Sequence[Stage]], zoom: str) -> None:
    found = matrices.picked(f"{KEY}_{zoom}")
    if found is not None and found[0] < len(drawn) and found[1] < len(drawn[found[0]]):
        sheet, row, column = found
        at = asked.passed.stages.index(drawn[sheet][row])
        choose_own(Options, stage=at, row=column, column=None, zoom="layer" if zoom == "stack" else "stage")


def numbers(asked: Asked, stage: Stage, options: Options) -> tuple[int, int, tuple[int, ...]]:
    """The numbers of one stage; the row and the column of the chosen one, and where it stands in the result."""
    array, pieces = asked.numbers(stage)
    values = flat(array)
    row = min(max(0, _first(stage) if options.row is None else options.row), len(values) - 1)
    largest = int(np.abs(np.where(np.abs(values[row]) < 1e30, values[row], 0)).argmax())
    column = min(max(0, largest if options.column is None else options.column), values.shape[1] - 1)
    tokens = asked.tokens(stage.side)
    shown_rows = _window(len(values), TALLEST, row)
    if pieces and values.shape[1] == array.shape[-1]:
        best = np.argsort(-values[row])[:LIKELIEST]
        columns = best if column in best else np.append(best, column)
        names = tuple(pieces.get(int(one), str(one)) for one in columns)
    else:
        columns, names = _window(values.shape[1], WIDEST, column), ()
    labels = tuple(f"{at} {tokens[at]}"[:14] if len(tokens) == len(values) else str(at) for at in shown_rows.tolist())
    cut = values[np.ix_(shown_rows, columns)]
    sheet = Sheet(
        title(stage),
        np.where(np.abs(cut) < 1e30, cut, 0),
        labels,
        names or tuple(map(str, columns.tolist())),
        _note(array.shape, shown_rows, columns, values.shape),
        palette="sequential" if stage.formula == "softmax" else "diverging",
        marked_rows=(int(np.flatnonzero(shown_rows == row)[0]),),
        marked_columns=(int(np.flatnonzero(columns == column)[0]),),
    )
    draw_matrices([sheet], f"{KEY}_stage", on_pick=partial(_number, shown_rows, columns))
    return row, column, place_of(array.shape, row, column)


def _first(stage: Stage) -> int:
    """The token whose numbers are shown by themselves: a decoder's last, which says what comes next."""
    return stage.shape[-2] - 1 if stage.side == "decoder" and len(stage.shape) > 1 else 1


def _number(rows: Any, columns: Any) -> None:
    found = matrices.picked(f"{KEY}_stage")
    if found is not None and found[1] < len(rows) and found[2] < len(columns):
        choose_own(Options, row=int(rows[found[1]]), column=int(columns[found[2]]))


def _note(shape: tuple[int, ...], rows: Array, columns: Array, whole: tuple[int, ...]) -> str:
    drawn = "" if (len(rows), len(columns)) == whole else f" {len(rows)} rows and {len(columns)} columns are drawn."
    return f"{' × '.join(map(str, shape))} numbers; a row a token.{drawn} Click one to open it."


def _window(count: int, most: int, must: int) -> Array:
    start = min(max(0, must - most // 2), max(0, count - most))
    return np.arange(start, min(count, start + most))


def layer_name(asked: Asked, stage: Stage) -> str:
    """A part in the stack's picture."""
    return f"{place(stage, asked.base, False)}: {stage.part}"
