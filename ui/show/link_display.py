"""One scored link as it looks: its sentence with the weights that the score compares, in words, and on Explore."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attention.mask import BoolArray, FloatArray
from i18n import _
from probing.link_list import ListedLink
from probing.relation_rows import Place
from ui.state.session import FRESH
from ui.state.view_state import ViewState
from viz.components.token_strip.token_strip import Mark, TokenChip


def title(one: ListedLink, worth: FloatArray, direction: int) -> str:
    """One link in a sentence: what the head gives its answer, and what it gives most where that is another word.

    >>> from attention.annotations import Item, Link
    >>> link = ListedLink(Item("a b c", ((0, 1), (2, 3), (4, 5)), (), 3), Link("r", 0, 1), 0, False, True)
    >>> title(link, np.array([np.nan, 0.25, 0.5]), 0)
    'Miss · line 3 · “a” gives “b” 0.25, “c” 0.50 · the rule finds it'
    >>> title(link, np.array([np.nan, 0.5, 0.25]), 1)
    'Miss · line 3 · “a” gets 0.50 from “b”, the most · the rule finds it'
    """
    most = int(np.nanargmax(worth))
    source, target, other = (word(one, unit) for unit in (one.link.source, one.link.target, most))
    own, best = weight(worth, one.link.target), weight(worth, most)
    values = {"source": source, "target": target, "own": own, "other": other, "best": best}
    if most == one.link.target:
        gives = _("{source} gives {target} {own}, the most", **values)
        gets = _("{source} gets {own} from {target}, the most", **values)
    else:
        gives = _("{source} gives {target} {own}, {other} {best}", **values)
        gets = _("{source} gets {own} from {target}, {best} from {other}", **values)
    hit = _("Hit") if one.hit else _("Miss")
    rule = _("the rule finds it") if one.by_rule else _("the rule misses it")
    return " · ".join((hit, _("line {number}", number=one.item.line), gives if direction == 0 else gets, rule))


def word(one: ListedLink, unit: int) -> str:
    start, end = one.item.units[unit]
    return f"“{one.item.text[start:end]}”"


def weight(worth: FloatArray, unit: int) -> str:
    """A weight with as many digits as tell it from the others.

    >>> weight(np.array([0.5, 0.25]), 1), weight(np.array([0.0123, 0.0119]), 1)
    ('0.25', '0.0119')
    """
    return f"{worth[unit]:.{2 if np.nanmax(worth) >= 0.1 else 4}f}"


def chips_of(one: ListedLink, worth: FloatArray) -> list[TokenChip]:
    """The text in its order: units with their weights, and what stands between them word by word."""
    chips, at = [], 0
    for unit in sorted(range(len(one.item.units)), key=lambda unit: one.item.units[unit]):
        start, end = one.item.units[unit]
        chips += [TokenChip(piece) for piece in one.item.text[at:start].split()]
        known = bool(np.isfinite(worth[unit]))
        mark: Mark = "chosen" if unit == one.link.source else "target" if unit == one.link.target else ""
        chips.append(
            TokenChip(
                one.item.text[start:end],
                shade=float(worth[unit]) if known else None,
                mark=mark,
                title=f"{worth[unit]:.4f}" if known else "",
                label=weight(worth, unit) if known else "",
            )
        )
        at = end
    return chips + [TokenChip(piece) for piece in one.item.text[at:].split()]


def explore_view(one: ListedLink, units: BoolArray, place: Place, choice: ViewState) -> ViewState:
    """The same head and the same two words on the page Explore."""
    ends = [int(np.flatnonzero(units[unit])[0]) for unit in (one.link.source, one.link.target)]
    focus, to = ends if place[0] == 0 else reversed(ends)
    view = {"text": one.item.text, "pair": "", "target": "", "layer": place[1], "head": place[2]}
    return replace(choice, **{**FRESH, **view, "focus": focus, "to": to})
