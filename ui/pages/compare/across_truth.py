"""What a set of pairs says, in sentences."""

from __future__ import annotations

import numpy as np

from probing.across import Across, Integers, Mean
from ui.pages.compare.across_measured import Place, Set
from ui.show.numbers import small
from wording import _, ngettext, sentence, told
from wording.joined import listed, together

MOST_NAMED = 6  # heads


def truth(found: Set) -> list[str]:
    """How many heads change more with the meaning than with the wording, which the most, and what was left out."""
    sentences = [_tested(found) if found.across.tested else _untested(found)]
    if found.one_word is not None:
        sentences.append(_fair(found, found.one_word))
    if found.left_out:
        many, reason = len(found.left_out), found.left_out[-1]
        sentences.append(
            ngettext(
                "{many:,} pair was left out. {reason}",
                "{many:,} pairs were left out. {reason}",
                many,
                many=many,
                reason=reason,
            )
        )
    return sentences


def _tested(found: Set) -> str:
    across = found.across
    more = across.more_heads
    does = ngettext(
        "{many} of {size} heads changes more with the meaning than with the wording",
        "{many} of {size} heads change more with the meaning than with the wording",
        len(more),
        many=len(more),
        size=len(found.apart),
    )
    controls = sum(pair.control for pair in found.pairs)
    counted = (
        sentence(
            "{heads} ({pairs} of different meaning, {controls:,} of different wording only; two-sided permutation "
            "test within each text, corrected for all heads by Holm's method)."
        )
        if across.within
        else sentence(
            "{heads} ({pairs} of different meaning, {controls:,} of different wording only; two-sided permutation "
            "test between texts, since none has both kinds, corrected for all heads by Holm's method)."
        )
    )
    most = int(max(more, key=lambda at: found.apart[at])) if len(more) else int(found.apart.argmax())
    against = (
        sentence("{head} the most: {change} bits against {control}.")
        if len(more)
        else sentence("The largest difference, {head}, may be luck: {change} bits against {control}.")
    )
    change, control = (small(float(mean.mean[most])) for mean in (across.change, across.control))
    said = [
        _(counted, heads=does + _names(found, more), pairs=_pairs(len(found.pairs) - controls), controls=controls),
        _(against, head=found.name(most), change=change, control=control),
    ]
    return together(*said)


def _fair(found: Set, one: Across) -> str:
    """That the kinds differ in unlike numbers of words, and what is left where they do not."""
    change, control = (np.mean([pair.words for pair in found.pairs if pair.control == kind]) for kind in (False, True))
    said = _(
        "A doubt: the pairs of different meaning differ in {change:.1f} words on the mean, the others in"
        " {control:.1f}, which alone may move a head.",
        change=change,
        control=control,
    )
    if not one.tested:
        return _("{said} Of each kind, pairs that differ in one word only would tell; there are none.", said=said)
    more, texts = one.more_heads, one.more.n if one.within else one.change.n
    does = ngettext(
        "{many} of {size} heads changes more with the meaning",
        "{many} of {size} heads change more with the meaning",
        len(more),
        many=len(more),
        size=len(one.p),
    )
    return _(
        "{said} Of the pairs that differ in one word only ({texts}), {heads}.",
        said=said,
        texts=ngettext("{n:,} text", "{n:,} texts", texts, n=texts),
        heads=does + _names(found, more),
    )


def _names(found: Set, heads: Integers) -> str:
    """A few of some heads, those that are furthest apart."""
    order = sorted((int(at) for at in heads), key=lambda at: -found.apart[at])
    if not order:
        return ""
    names, rest = listed([found.name(at) for at in order[:MOST_NAMED]]), len(order) - MOST_NAMED
    return _(": {heads} and {n} others", heads=names, n=rest) if rest > 0 else _(": {heads}", heads=names)


def _untested(found: Set) -> str:
    across = found.across
    if not across.change.n:
        return _("All these pairs are controls, so nothing is held against them. Add pairs of the kind “change”.")
    most = int(across.change.mean.argmax())
    return _(
        "{pairs}, none of them a control, so what a change of wording alone does is not known. The most changed of "
        "{heads} heads is {head}: {bits} bits{interval}.",
        pairs=_pairs(len(found.pairs)),
        heads=len(across.change.mean),
        head=found.name(most),
        bits=small(float(across.change.mean[most])),
        interval=_interval(across.change, most),
    )


def of_head(found: Set, head: Place) -> str:
    """One head's numbers with their intervals, and what the test says."""
    across, at = found.across, head[0] * found.shape[1] + head[1]
    said = [
        _(where, bits=small(float(mean.mean[at])), interval=_interval(mean, at))
        for mean, where in (
            (across.change, sentence("{bits} bits where the meaning changes{interval}")),
            (across.control, sentence("{bits} bits where only the wording does{interval}")),
        )
        if mean.n
    ]
    name, numbers = found.name(at), _(" and ").join(said)
    if not across.tested:
        return _("Head {head}: {numbers}.", head=name, numbers=numbers)
    verdict = told(across.verdict(at))
    return _("Head {head}: {numbers}. Test: {verdict} with the meaning.", head=name, numbers=numbers, verdict=verdict)


def _interval(mean: Mean, at: int) -> str:
    if np.isnan(mean.low[at]):
        return ""
    return _(" (95 % interval {low} to {high})", low=small(float(mean.low[at])), high=small(float(mean.high[at])))


def _pairs(n: int) -> str:
    return ngettext("{n:,} pair", "{n:,} pairs", n, n=n)
