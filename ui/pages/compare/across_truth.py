"""What a set of pairs says, in sentences."""

from __future__ import annotations

import numpy as np

from probing.across import Across, Integers
from ui.input.head_picking import many_do
from ui.pages.compare.across_measured import Place, Set
from ui.show.numbers import small

MOST_NAMED = 6  # heads


def truth(found: Set) -> list[str]:
    """How many heads change more with the meaning than with the wording, which the most, and what was left out."""
    told = found.across
    sentences = [_tested(found) if told.tested else _untested(found)]
    if found.one_word is not None:
        sentences.append(_fair(found, found.one_word))
    if found.left_out:
        many = len(found.left_out)
        pairs = "1 pair was" if many == 1 else f"{many:,} pairs were"
        sentences.append(f"{pairs} left out. {found.left_out[-1]}")
    return sentences


def _tested(found: Set) -> str:
    told = found.across
    more, less = told.those(more=True), told.those(more=False)
    controls = sum(pair.control for pair in found.pairs)
    where = "within each text" if told.within else "between texts, since none has both kinds"
    counted = (
        f"{_many(len(found.pairs) - controls, 'pair')} of different meaning, {controls:,} of different wording only;"
        f" permutation test {where}, corrected for all heads by Holm's method"
    )
    does = many_do(len(more), len(found.apart), "changes", "change", "more with the meaning than with the wording")
    most = int(max(more, key=lambda at: found.apart[at])) if len(more) else int(found.apart.argmax())
    against = f"{small(float(told.change.mean[most]))} bits against {small(float(told.control.mean[most]))}"
    rank = f"{found.name(most)} the most:" if len(more) else f"The largest difference, {found.name(most)}, may be luck:"
    also = f" {len(less)} {'changes' if len(less) == 1 else 'change'} less with the meaning." if len(less) else ""
    return f"{does}{_names(found, more)} ({counted}). {rank} {against}.{also}"


def _fair(found: Set, one: Across) -> str:
    """That the kinds differ in unlike numbers of words, and what is left where they do not."""
    change, control = (np.mean([pair.words for pair in found.pairs if pair.control == kind]) for kind in (False, True))
    said = (
        f"A doubt: the pairs of different meaning differ in {change:.1f} words on the mean, the others in"
        f" {control:.1f}, which alone may move a head."
    )
    if not one.tested:
        return f"{said} Of each kind, pairs that differ in one word only would tell; there are none."
    more, texts = one.those(more=True), one.more.n if one.within else one.change.n
    does = many_do(len(more), len(one.p_more), "changes", "change", "more with the meaning")
    return f"{said} Of the pairs that differ in one word only ({_many(texts, 'text')}), {does}{_names(found, more)}."


def _names(found: Set, heads: Integers) -> str:
    """A few of some heads, those that are furthest apart."""
    order = sorted((int(at) for at in heads), key=lambda at: -found.apart[at])
    rest = f" and {len(order) - MOST_NAMED} others" if len(order) > MOST_NAMED else ""
    return f": {', '.join(found.name(at) for at in order[:MOST_NAMED])}{rest}" if order else ""


def _untested(found: Set) -> str:
    told = found.across
    if not told.change.n:
        return "All these pairs are controls, so nothing is held against them. Add pairs of the kind “change”."
    most = int(told.change.mean.argmax())
    return (
        f"{_many(len(found.pairs), 'pair')}, none of them a control, so what a change of wording alone does is not"
        f" known. The most changed of {len(told.change.mean)} heads is {found.name(most)}:"
        f" {small(float(told.change.mean[most]))} bits{_interval(told.change.low[most], told.change.high[most])}."
    )


def of_head(found: Set, head: Place) -> str:
    """One head's numbers with their intervals, and what the test says."""
    told, at = found.across, head[0] * found.shape[1] + head[1]
    said = [
        f"{small(float(mean.mean[at]))} bits where {what}{_interval(mean.low[at], mean.high[at])}"
        for mean, what in ((told.change, "the meaning changes"), (told.control, "only the wording does"))
        if mean.n
    ]
    verdict = f" Test: {told.verdict(at)} with the meaning." if told.tested else ""
    return f"Head {found.name(at)}: {' and '.join(said)}.{verdict}"


def _interval(low: float, high: float) -> str:
    return "" if np.isnan(low) else f" (95 % interval {small(float(low))} to {small(float(high))})"


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
