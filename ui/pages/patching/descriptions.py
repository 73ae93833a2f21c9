"""Sentences that describe the results of activation patching."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from i18n import _, gettext_lazy
from i18n.lists import join_sentences
from inference.tasks.edit_effects import Effect
from ui.pages.patching.results import PatchingResult, Place
from ui.show.text import format_small, times


def describe_patching(found: PatchingResult) -> list[str]:
    """Describe both answers, the word vectors with the largest effects by layer, and the heads."""
    return [sentence for sentence in (_answers(found), _describe_path(found), _heads(found)) if sentence]


def describe_answer(found: PatchingResult, effect: Effect, at: int = 0) -> str:
    """Describe the answer of set ``at`` by the odds of the two words; "" for a vector."""
    if not found.metric.names:
        return ""
    return times(float(found.metric.numbers(effect)[at, 0]), *found.metric.names)


def _answers(found: PatchingResult) -> str:
    if not found.metric.names:
        return _("The answer is the sentence vector.")
    first, second = (describe_answer(found, effect) for effect in (found.before, found.after))
    if not found.metric.blank:
        return _("{first} in the first text; in the second, {second}.", first=first, second=second)
    return _(
        "In the place of “{blank}”, {first} in the first text; in the second, {second}.",
        blank=found.metric.blank,
        first=first,
        second=second,
    )


def _describe_path(found: PatchingResult) -> str:
    """Describe, by layer, the word vector with the largest effect."""
    known = found.states[: found.layers]
    if not np.isfinite(known).all() or not known.size:
        return ""
    best = known.argmax(axis=1)
    runs = [[layer for layer, _word in group] for _word, group in groupby(enumerate(best), key=lambda one: one[1])]
    stages = []
    for run in runs:
        shares = _shares([float(known[layer, best[layer]]) for layer in run])
        word, first, last = found.words[best[run[0]]], run[0], run[-1]
        stages.append(
            _("“{word}” into layer {layer} ({shares})", word=word, layer=first, shares=shares)
            if first == last
            else _(
                "“{word}” into layers {first} to {last} ({shares})", word=word, first=first, last=last, shares=shares
            )
        )
    return _(
        "The word vectors with the largest effect: {words}.",
        words=_(", then ").join(stages),
    )


def _shares(shares: list[float]) -> str:
    low, high = format_small(min(shares)), format_small(max(shares))
    return low if low == high else _("{first} to {last}", first=format_small(shares[0]), last=format_small(shares[-1]))


def _heads(found: PatchingResult) -> str:
    """Describe the head with the largest effect, and the number of heads beyond random changes."""
    if not np.isfinite(found.heads).all():
        return ""
    layer, head = (int(at) for at in np.unravel_index(int(found.heads.argmax()), found.heads.shape))
    share = format_small(float(found.heads[layer, head]))
    said = _(
        "The head with the largest effect is {layer}-{head}: {share}.",
        layer=layer,
        head=head,
        share=share,
    )
    if not np.isfinite(found.head_bands).any():
        return said
    many = int(exceeds_band(found.heads, found.head_bands).sum())
    mean, low, high = found.luck
    return _(
        "{said} {many} of {heads} heads exceed 95 of 100 random changes of the same size in their layer; "
        "expected by chance: {mean:.0f} (95 % range {low} to {high}).",
        said=said,
        many=many,
        heads=found.heads.size,
        mean=mean,
        low=low,
        high=high,
    )


def exceeds_band(shares: np.ndarray, bands: np.ndarray) -> np.ndarray:
    """Return which of ``shares`` (row, place) are above the band of their row; none if the band is NaN."""
    found: np.ndarray = shares > np.where(np.isnan(bands), np.inf, bands)[:, None]
    return found


def describe_site(found: PatchingResult, kind: str, place: Place, effect: Effect) -> str:
    """Describe the effect of a single patch."""
    layer, at = place
    if kind == "h":
        what = _("the output of head {layer}-{head}", layer=layer, head=at)
        share, band = found.heads[place], found.head_bands[layer]
    else:
        word = found.words[at]
        what = (
            _("the vector of “{word}” in every layer", word=word)
            if layer == found.layers
            else _("the vector of “{word}” as it enters layer {layer}", word=word, layer=layer)
        )
        share, band = found.states[place], found.state_bands[layer]
    goes = (
        gettext_lazy("Patching {what} has an effect of {share}.")
        if np.isnan(band)
        else gettext_lazy(
            "Patching {what} has an effect of {share}; 95 of 100 random changes of the same size have at most {band}."
        )
    )
    values = {} if np.isnan(band) else {"band": format_small(float(band))}
    said = _(goes, what=what, share=format_small(float(share)), **values)
    answer = describe_answer(found, effect)
    return join_sentences(said, _("Then {answer}.", answer=answer)) if answer else said
