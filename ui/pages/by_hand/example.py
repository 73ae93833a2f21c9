"""The small example of attention: its options, matrices, row names and sizes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from attention.toy_example import Matrices, Numbers, ToyAttention, ToyRules
from i18n import _, gettext_lazy
from inference import UserError
from ui.input.controls import ALL_STAGES, read_number
from ui.paths import ASSETS
from viz.options import option

PRESETS: tuple[dict[str, Any], ...] = tuple(json.loads((ASSETS / "by_hand.json").read_text(encoding="utf-8")))
PRESET_TITLES = {
    "sentence": gettext_lazy("Four words, two heads"),
    "tutorial": gettext_lazy("Four one-hot words (tutorial)"),
    "lookup": gettext_lazy("Three words, lookup"),
}
STAGES = {
    "projections": gettext_lazy("Query, key, value"),
    "weights": gettext_lazy("Attention weights"),
    "values": gettext_lazy("Weighted values"),
    "output": gettext_lazy("Output projection"),
    "layer": gettext_lazy("Residual and feed-forward"),
    "word": gettext_lazy("Next word"),
    "gradient": gettext_lazy("Gradient"),
}
UNNAMED = "tutorial"  # preset of links with other parameters but no preset, the default of earlier versions


@dataclass(frozen=True)
class ByHandOptions:
    """Options of the page By hand, besides the shared view state."""

    preset: str = option("", choices=("", *(preset["name"] for preset in PRESETS)))  # "": see ``preset_name``
    numbers: str = ""  # the matrices as packed by ui/pages/by_hand/as_csv.py; "" = those of the preset
    heads: int = 1
    causal: bool = False
    scaled: bool = True  # divide scores by √d_k
    positions: bool = False
    onward: bool = True  # residual sums, LayerNorm and feed-forward
    shown: int = 0  # the head whose scores are shown
    row: int | None = None  # the query and key to work out; None = those of the largest weight
    column: int | None = None
    # The stage on screen; "" is that of the opened cell or pair, else the first.
    stage: str = option("", label=gettext_lazy("Stage"), choices={**STAGES, ALL_STAGES: gettext_lazy("All stages")})
    cell: str = ""  # the opened cell: a step's key, row and column, such as "q-0-1"

    @property
    def is_default(self) -> bool:
        """Return True if all options except the shown stage have their default values."""
        return replace(self, stage="") == ByHandOptions()

    @property
    def preset_name(self) -> str:
        """Return the name of the preset; by default the first preset, or UNNAMED if other options are set.

        >>> ByHandOptions().preset_name, ByHandOptions(heads=2).preset_name, ByHandOptions(preset="lookup").preset_name
        ('sentence', 'tutorial', 'lookup')
        >>> ByHandOptions(stage="word").preset_name
        'sentence'
        """
        return self.preset or (PRESETS[0]["name"] if self.is_default else UNNAMED)


TOKENS = (2, 8)  # minimum and maximum number of tokens, and of words
WIDTH = (1, 8)  # minimum and maximum number of columns of X, of W_Q, W_K and W_V, and of W_1
LONGEST_NAME = 24  # characters of a token or word
MATRICES = tuple(field.name for field in fields(Matrices))
NAMES = {"x": "tokens", "e": "words"}  # fields with the row names of these matrices
TITLES = {"x": "X", "w_q": "W_Q", "w_k": "W_K", "w_v": "W_V", "w_o": "W_O", "w_1": "W_1", "w_2": "W_2", "e": "E"}


@dataclass(frozen=True, eq=False)
class Example(Matrices):
    """The input matrices with the names of the rows of X and E."""

    tokens: tuple[str, ...]
    words: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        """Return whether all names and all numbers are equal."""
        if not isinstance(other, Example) or (self.tokens, self.words) != (other.tokens, other.words):
            return False
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in MATRICES)

    __hash__ = None  # type: ignore[assignment]  # equality compares arrays

    @property
    def width(self) -> int:
        """Return the number of columns of W_Q, W_K and W_V, heads · d_k."""
        return int(self.w_q.shape[1])


def attention_example(tokens: Sequence[str], x: Numbers, w_q: Numbers, w_k: Numbers, w_v: Numbers) -> Example:
    """Return an example with identity matrices for W_O, W_1 and W_2, and with the tokens as vocabulary.

    >>> attention_example(["a", "b"], *[np.eye(2)] * 4).words
    ('a', 'b')
    """
    columns, width = w_q.shape
    rest = (np.eye(width, columns), np.eye(columns), np.eye(columns), x.copy())
    w_o, w_1, w_2, e = rest
    return Example(x, w_q, w_k, w_v, w_o, w_1, w_2, e, tuple(tokens), tuple(tokens))


def preset_of(name: str) -> dict[str, Any]:
    """Return a preset from assets/by_hand.json."""
    return next(preset for preset in PRESETS if preset["name"] == name)


def example_of(name: str) -> Example:
    """Return the example of a preset.

    >>> example_of("lookup").tokens
    ('one', 'two', 'three')
    """
    preset = preset_of(name)
    matrices = {name: np.array(preset[name], float) for name in MATRICES}
    return Example(**matrices, tokens=tuple(preset["tokens"]), words=tuple(preset["words"]))


def resize(  # noqa: PLR0913  # the five sizes that a reader may change
    example: Example,
    tokens: int,
    columns: int,
    width: int,
    hidden: int | None = None,
    words: int | None = None,
) -> Example:
    """Return the example in other sizes; new cells are 0, and surplus rows and columns are cut off.

    ``tokens`` and ``columns`` are the shape of X, ``width`` is the number of columns of W_Q, W_K and W_V, ``hidden``
    the feed-forward width, and ``words`` the vocabulary size. None keeps a size.

    >>> resize(example_of("lookup"), 4, 2, 3).tokens
    ('one', 'two', 'three', 'token 4')
    """
    inside = hidden or example.w_1.shape[1]
    many = {"tokens": tokens, "words": words or len(example.words)}
    shapes = {
        "x": (tokens, columns),
        **dict.fromkeys(("w_q", "w_k", "w_v"), (columns, width)),
        "w_o": (width, columns),
        "w_1": (columns, inside),
        "w_2": (inside, columns),
        "e": (many["words"], columns),
    }
    fitted = {name: _fit(getattr(example, name), shape) for name, shape in shapes.items()}
    names = {field: _row_names(getattr(example, field), field, count) for field, count in many.items()}
    return Example(**fitted, tokens=names["tokens"], words=names["words"])


def apply_table_edits(
    example: Example, edits: Mapping[str, Mapping[int, Mapping[str, Any]]], last: Example | None = None
) -> tuple[Example, list[str]]:
    """Return the example with the edits applied, and a sentence for each cell that is not a number.

    ``edits`` is {matrix: {row: {column: text}}}. Columns are counted from "1"; the column "name" holds the row
    name of X or E. An emptied cell is 0, an emptied name the default such as "token 2". An unreadable number
    leaves the cell's number in ``last``, an example of the same sizes, or else in ``example``.
    """
    changed: dict[str, Any] = {name: getattr(example, name).copy() for name in MATRICES}
    names = {field: list(getattr(example, field)) for field in NAMES.values()}
    problems: list[str] = []
    for matrix, rows in edits.items():
        for row, cells in rows.items():
            for column, value in cells.items():
                typed = str(value if value is not None else "").strip()
                if column == "name":
                    field = NAMES[matrix]
                    names[field][row] = typed[:LONGEST_NAME] or _default_name(field, row + 1)
                    continue
                try:
                    changed[matrix][row, int(column) - 1] = read_number(typed)
                except UserError as refusal:
                    changed[matrix][row, int(column) - 1] = getattr(last or example, matrix)[row, int(column) - 1]
                    problems.append(
                        gettext_lazy(
                            "{matrix}, row {row}, column {column}: {problem}",
                            matrix=TITLES[matrix],
                            row=row + 1,
                            column=column,
                            problem=refusal.message,
                        )
                    )
    return Example(**changed, tokens=tuple(names["tokens"]), words=tuple(names["words"])), problems


def _default_name(field: str, number: int) -> str:
    """Return the default name of a row."""
    return _("token {number}", number=number) if field == "tokens" else _("word {number}", number=number)


def _row_names(names: tuple[str, ...], field: str, count: int) -> tuple[str, ...]:
    return (*names[:count], *(_default_name(field, place + 1) for place in range(len(names), count)))


def divisors(width: int) -> list[int]:
    """Return the numbers of heads that divide a width evenly.

    >>> divisors(6)
    [1, 2, 3, 6]
    """
    return [heads for heads in range(1, width + 1) if width % heads == 0]


def fit_options(options: ByHandOptions, example: Example) -> tuple[ByHandOptions, list[str]]:
    """Return options that fit the example, and a message if the number of heads had to change.

    If the heads do not divide the columns of W_Q evenly, there is a single head. Selected heads or tokens that the
    example lacks are reset. The returned options name the preset even if the given options do not.
    """
    notes: list[str] = []
    heads = preset_of(options.preset_name)["heads"] if options.is_default else options.heads
    options = replace(options, preset=options.preset_name, heads=heads)
    if options.heads not in divisors(example.width):
        notes.append(
            gettext_lazy(
                "{heads} heads cannot share {width} columns equally; one is shown.",
                heads=options.heads,
                width=example.width,
            )
        )
        options = replace(options, heads=1)
    count = len(example.tokens)
    if options.shown >= options.heads:
        options = replace(options, shown=0)
    if any(place is not None and place >= count for place in (options.row, options.column)):
        options = replace(options, row=None, column=None)
    return options, notes


def rules_of(options: ByHandOptions) -> ToyRules:
    """Return the options as rules for ``compute_example``."""
    return ToyRules(options.heads, options.causal, options.scaled, options.positions, options.onward)


def pair(options: ByHandOptions, worked: ToyAttention) -> tuple[int, int]:
    """Return the (query, key) whose weight is calculated: the chosen pair, else the largest weight of the head."""
    if options.row is not None and options.column is not None:
        return options.row, options.column
    return strongest_link(worked, options.shown, options.causal)


def strongest_link(worked: ToyAttention, head: int, causal: bool) -> tuple[int, int]:
    """Return the (query, key) of a head's largest weight.

    With a causal mask the first token is skipped, since it can only attend to itself.
    """
    first = 1 if causal else 0
    weights = worked.weights[head, first:]
    row, column = np.unravel_index(int(weights.argmax()), weights.shape)
    return int(row) + first, int(column)


def _fit(matrix: Numbers, shape: tuple[int, int]) -> Numbers:
    fitted = np.zeros(shape)
    kept = matrix[: shape[0], : shape[1]]
    fitted[: kept.shape[0], : kept.shape[1]] = kept
    return fitted
