"""What carries the difference between two texts, in sentences."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from inference.questions.effects import Effect
from ui.pages.compare.carrying_measured import Carried, Place
from ui.show.numbers import small, times

OF_100 = 5  # random changes that go beyond a band


def truth(found: Carried) -> list[str]:
    """The sentences above the maps: both answers, the way through the layers, the heads."""
    return [sentence for sentence in (_answers(found), _way(found), _heads(found)) if sentence]


def answer_of(found: Carried, effect: Effect, at: int = 0) -> str:
    """One answer in words; "" for a vector."""
    if not found.followed.names:
        return ""
    return times(float(found.followed.numbers(effect)[at, 0]), *found.followed.names)


def _answers(found: Carried) -> str:
    if not found.followed.names:
        return "Followed is the sentence vector, from the first text's to the second's."
    asked = f"In the place of “{found.followed.blank}”, " if found.followed.blank else ""
    first = f"{asked}{answer_of(found, found.before)} in the first text"
    return f"{first[0].upper()}{first[1:]}; in the second, {answer_of(found, found.after)}."


def _way(found: Carried) -> str:
    """Which single vector carries most, from layer to layer."""
    known = found.states[: found.layers]
    if not np.isfinite(known).all() or not known.size:
        return ""
    best = known.argmax(axis=1)
    runs = [[layer for layer, _ in group] for _, group in groupby(enumerate(best), key=lambda one: one[1])]
    told = []
    for run in runs:
        shares = [float(known[layer, best[layer]]) for layer in run]
        where = _layers(run, found.base)
        told.append(f"“{found.words[best[run[0]]]}” {where} ({_shares(shares)})")
    return (
        "Of single words' vectors, the one that carries most of the way to the second text's answer is that of "
        f"{_listed(told)}."
    )


def _layers(run: list[int], base: int) -> str:
    first, last = run[0] + base, run[-1] + base
    return f"into layer {first}" if first == last else f"into layers {first} to {last}"


def _shares(shares: list[float]) -> str:
    low, high = small(min(shares)), small(max(shares))
    return low if low == high else f"{small(shares[0])} to {small(shares[-1])}"


def _listed(parts: list[str]) -> str:
    return ", then ".join(parts)


def _heads(found: Carried) -> str:
    """The head that carries most alone, and how many go beyond random changes."""
    if not np.isfinite(found.heads).all():
        return ""
    layer, head = (int(at) for at in np.unravel_index(int(found.heads.argmax()), found.heads.shape))
    share = small(float(found.heads[layer, head]))
    said = f"Of single heads, {layer + found.base}-{head + found.base} carries most: {share} of the way."
    if not np.isfinite(found.head_bands).any():
        return said
    many = int(beyond(found.heads, found.head_bands).sum())
    luck = OF_100 * found.heads.size / 100
    return (
        f"{said} {many} of {found.heads.size} heads carry more than 95 of 100 random changes as large do in their"
        f" layer; {luck:.0f} would by luck alone."
    )


def beyond(shares: np.ndarray, bands: np.ndarray) -> np.ndarray:
    """Which of ``shares`` (row, place) go beyond what random changes of their row stay within."""
    found: np.ndarray = np.abs(shares) > np.where(np.isnan(bands), np.inf, bands)[:, None]
    return found


def of_one(found: Carried, kind: str, place: Place, effect: Effect) -> str:
    """What taking one thing alone does."""
    layer, at = place
    if kind == "h":
        what = f"the output of head {layer + found.base}-{at + found.base}"
        share, band = found.heads[place], found.head_bands[layer]
    else:
        where = "in every layer" if layer == found.layers else f"as it enters layer {layer + found.base}"
        what = f"the vector of “{found.words[at]}” {where}"
        share, band = found.states[place], found.state_bands[layer]
    chance = "" if np.isnan(band) else f"; 95 of 100 random changes as large stay within {small(float(band))}"
    then = answer_of(found, effect)
    return (
        f"With {what} taken from the second text, the answer goes {small(float(share))} of the way{chance}."
        f"{f' Then {then}.' if then else ''}"
    )
