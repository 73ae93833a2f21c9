"""What the numbers say, in sentences."""

from __future__ import annotations

import numpy as np

from ui.pages.compare.measured import Compared
from ui.show.numbers import small

NOTICED = 0.005  # a share that two decimals show
MOST_NAMED = 6  # words


def truth(found: Compared) -> list[str]:
    """The sentences above the figures: the link in focus, what every head does, and what was left out of it."""
    return [f"{_link(found)} {_every(found)}", *_left_out(found)]


def _link(found: Compared) -> str:
    """What the word in focus gives its target, in both readings."""
    sides, row, column = found.sides, found.row, found.column
    focus = sides.beside.left.queries[found.focus].text
    first, second = sides.names(found.base)
    weights, others = found.rows()
    if found.target is None:
        return f"“{focus}” has no other word to look at."
    target = sides.beside.left.keys[found.target].text
    if row is None:
        return (
            f"“{focus}” is a word of the first reading only: in {found.name(found.head)} it gives “{target}”"
            f" {small(weights[found.target])}. Pick another word to compare."
        )
    if column is None:
        return (
            f"In {found.name(found.head)}, “{focus}” gives “{target}” {small(weights[found.target])} {first};"
            f" the second reading has no such word."
        )
    pairs = sides.beside.keys.pairs[column]
    one, other = (float(values[slice(*run)].sum()) for values, run in zip((weights, others), pairs, strict=True))
    gives = f"“{sides.label(row, key=False)}” gives “{sides.label(column, key=True)}”"
    if found.unlike is None:
        return f"In {found.name(found.head)}, {gives} {small(one)} {first} and {small(other)} {second}."
    return (
        f"{gives} {small(one)} in {found.name(found.head)} of {sides.models[0]} and {small(other)} in"
        f" {found.name(found.partner)} of {sides.models[1]}, the head most like it on"
        f" {found.sentences} sentences ({small(found.unlike)} bits apart)."
    )


def _every(found: Compared) -> str:
    """Which head changes most, and where the chosen one stands."""
    bits = found.changes.bits
    counted = int(np.isfinite(bits).sum())
    if not counted:
        return "No row can be compared."
    most = found.changes.most
    if bits[most] == 0:
        return f"None of {counted} heads changes."
    mine = float(bits[found.head])
    own = "" if most == found.head or np.isnan(mine) else f"; {found.name(found.head)} changes by {small(mine)}"
    return f"Of {counted} heads the most changed is {found.name(most)} ({small(float(bits[most]))} bits){own}."


def _left_out(found: Compared) -> list[str]:
    """The share of the chosen head's attention that has no counterpart, and which rows stand for a long text."""
    lost = [float(side[found.head]) for side in found.changes.lost]
    said = []
    if max(lost) >= NOTICED:
        names = found.sides.names(found.base)
        said.append(
            f"Compared are shares among the words that both readings have. Head {found.name(found.head)} gives the"
            f" others, {_others(found)}, {small(lost[0])} of its attention {names[0]} and {small(lost[1])} {names[1]}."
        )
    if found.changes.rows < found.changes.all_rows:
        said.append(
            f"The map of all heads is made from {found.changes.rows:,} rows of {found.changes.all_rows:,}, evenly"
            " spread over this long text."
        )
    return said


def _others(found: Compared) -> str:
    """The words that only one reading has, a few of them by name."""
    beside = found.sides.beside
    both = zip((beside.left, beside.right), found.sides.alone, strict=True)
    words = list(dict.fromkeys(f"“{view.keys[cell].text}”" for view, cells in both for cell in cells))
    more = [f"{len(words) - MOST_NAMED:,} more"] if len(words) > MOST_NAMED else []
    return " and ".join([", ".join(words[:MOST_NAMED]), *more])
