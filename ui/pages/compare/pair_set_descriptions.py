"""Sentences that describe the results of a set of text pairs."""

from __future__ import annotations

import numpy as np

from i18n import _, gettext_lazy, ngettext, translate
from i18n.lists import format_comma_list, join_sentences
from probing.text_pairs import ControlledChange, Integers, Mean
from ui.pages.compare.pair_set_results import PairSet, Place
from ui.show.text import format_small

MOST_NAMED = 6  # heads that are listed by name


def describe_pair_set(found: PairSet) -> list[str]:
    """Describe the heads that change more with the meaning than with the wording, and the pairs left out."""
    sentences = [_describe_tested(found) if found.across.has_test else _describe_untested(found)]
    if found.one_word is not None:
        sentences.append(_fair(found, found.one_word))
    if found.left_out:
        many, reason = len(found.left_out), found.left_out[-1]
        sentences.append(
            ngettext(
                "{many:,} pair was skipped. {reason}",
                "{many:,} pairs were skipped. {reason}",
                many,
                many=many,
                reason=reason,
            )
        )
    return sentences


def _describe_tested(found: PairSet) -> str:
    across = found.across
    more = across.more_heads
    does = ngettext(
        "{many} of {size} heads changes more with meaning than wording",
        "{many} of {size} heads change more with meaning than wording",
        len(more),
        many=len(more),
        size=len(found.meaning_excess),
    )
    controls = sum(pair.control for pair in found.pairs)
    counted = (
        gettext_lazy(
            "{heads} ({pairs} with a new meaning, {controls:,} controls; two-sided permutation test within "
            "texts, Holm-corrected)."
        )
        if across.within
        else gettext_lazy(
            "{heads} ({pairs} with a new meaning, {controls:,} controls; no text has both, so two-sided "
            "permutation test between texts, Holm-corrected)."
        )
    )
    most = int(max(more, key=lambda at: found.meaning_excess[at])) if len(more) else int(found.meaning_excess.argmax())
    against = (
        gettext_lazy("{head} changes most: {change} bits against {control}.")
        if len(more)
        else gettext_lazy("The largest difference, {head}, is not significant: {change} bits against {control}.")
    )
    change, control = (format_small(float(mean.mean[most])) for mean in (across.change, across.control))
    said = [
        _(counted, heads=does + _names(found, more), pairs=_pairs(len(found.pairs) - controls), controls=controls),
        _(against, head=found.name(most), change=change, control=control),
    ]
    return join_sentences(*said)


def _fair(found: PairSet, one: ControlledChange) -> str:
    """Describe that the kinds of pairs differ in numbers of words, and the result without that confound.

    ``one`` is the result for the pairs that differ in a single word.
    """
    change, control = (np.mean([pair.words for pair in found.pairs if pair.control == kind]) for kind in (False, True))
    said = _(
        "Caution: changes differ in {change:.1f} words on average, controls in {control:.1f}, which may "
        "explain the difference.",
        change=change,
        control=control,
    )
    if not one.has_test:
        return _("{said} Of each kind, pairs that differ in one word only would tell; there are none.", said=said)
    more, texts = one.more_heads, one.more.n if one.within else one.change.n
    does = ngettext(
        "{many} of {size} heads changes more with meaning",
        "{many} of {size} heads change more with meaning",
        len(more),
        many=len(more),
        size=len(one.p),
    )
    return _(
        "{said} In pairs that differ by one word ({texts}), {heads}.",
        said=said,
        texts=ngettext("{n:,} text", "{n:,} texts", texts, n=texts),
        heads=does + _names(found, more),
    )


def _names(found: PairSet, heads: Integers) -> str:
    """List the heads with the largest excess, at most MOST_NAMED of them by name."""
    order = sorted((int(at) for at in heads), key=lambda at: -found.meaning_excess[at])
    if not order:
        return ""
    names, rest = format_comma_list([found.name(at) for at in order[:MOST_NAMED]]), len(order) - MOST_NAMED
    return _(": {heads} and {n} others", heads=names, n=rest) if rest > 0 else _(": {heads}", heads=names)


def _describe_untested(found: PairSet) -> str:
    across = found.across
    if not across.change.n:
        return _("All pairs are controls. Add pairs of the kind “change”.")
    most = int(across.change.mean.argmax())
    return _(
        "Head {head} changes most of {heads} heads: {bits} bits{interval} ({pairs}). Without controls, this "
        "may be the effect of wording.",
        pairs=_pairs(len(found.pairs)),
        heads=len(across.change.mean),
        head=found.name(most),
        bits=format_small(float(across.change.mean[most])),
        interval=_interval(across.change, most),
    )


def describe_head(found: PairSet, head: Place) -> str:
    """Describe a head's mean changes with their 95 % intervals, and the verdict of the test."""
    across, at = found.across, head[0] * found.shape[1] + head[1]
    said = [
        _(where, bits=format_small(float(mean.mean[at])), interval=_interval(mean, at))
        for mean, where in (
            (across.change, gettext_lazy("{bits} bits for changed meaning{interval}")),
            (across.control, gettext_lazy("{bits} bits for changed wording{interval}")),
        )
        if mean.n
    ]
    name, numbers = found.name(at), _(" and ").join(said)
    if not across.has_test:
        return _("Head {head}: {numbers}.", head=name, numbers=numbers)
    verdict = translate(across.verdict(at))
    return _("Head {head}: {numbers}. Test: {verdict} with the meaning.", head=name, numbers=numbers, verdict=verdict)


def _interval(mean: Mean, at: int) -> str:
    if np.isnan(mean.low[at]):
        return ""
    return _(
        " (95 % interval {low} to {high})",
        low=format_small(float(mean.low[at])),
        high=format_small(float(mean.high[at])),
    )


def _pairs(n: int) -> str:
    return ngettext("{n:,} pair", "{n:,} pairs", n, n=n)
