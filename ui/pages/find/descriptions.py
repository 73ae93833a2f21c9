"""Sentences and a CSV table about the heads that link the source word to a candidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention.head_names import head_label
from attention.head_search import LEAST, Flags, flips, prefers_first
from i18n import _
from ui.run.head_answers import HeadAnswers
from ui.show.tables import csv_table
from ui.show.text import format_comma_list, join_sentences


def describe_preference(asked: HeadAnswers) -> str:
    """Describe how many heads prefer the first candidate, the strongest head, and other words there."""
    margins = asked.preference
    layer, head = (int(place) for place in np.unravel_index(int(np.nanargmax(margins)), margins.shape))
    many, usual = int(prefers_first(margins).sum()), asked.usual[:, layer, head]
    first, second = asked.found[:, layer, head]
    best: dict[str, Any] = {
        "counted": _describe_count(asked, many, int(np.isfinite(margins).sum())),
        "head": head_label(layer, head),
        "first": first,
        "second": second,
    }
    sentences = [
        _("{counted}; head {head} the most: {first:.2f} against {second:.2f}.", **best)
        if many
        else _("{counted}; head {head} comes closest: {first:.2f} against {second:.2f}.", **best)
    ]
    key, times, others = asked.favourite(layer, head)
    if not np.isnan(usual[0]):
        sentences.append(_("Other words give {word} {weight:.2f} there on average.", word=key, weight=usual[0]))
    if others:
        sentences.append(
            _(
                "There {word} is the favourite of {times} of {others} other words anyway.",
                word=key,
                times=times,
                others=others,
            )
        )
    return join_sentences(*sentences)


def _describe_count(asked: HeadAnswers, many: int, size: int) -> str:
    """Describe how many heads prefer the first candidate."""
    names = (asked.name(cell) for cell in (asked.words.source, asked.words.first, asked.words.second))
    values: dict[str, Any] = dict(
        zip(("source", "first", "second"), names, strict=True), many=many, size=size, least=LEAST
    )
    if asked.inward and asked.is_adjusted:
        return _(
            "In {many} of {size} heads, {first} attends to {source} more than {second} does (excess, by over {least})",
            **values,
        )
    if asked.inward:
        return _(
            "In {many} of {size} heads, {first} attends to {source} more than {second} does, by over {least}", **values
        )
    if asked.is_adjusted:
        return _(
            "In {many} of {size} heads, {source} attends more to {first} than to {second} (excess, by over {least})",
            **values,
        )
    return _("In {many} of {size} heads, {source} attends more to {first} than to {second}, by over {least}", **values)


def describe_strongest(asked: HeadAnswers, other: HeadAnswers) -> str:
    """Describe the preference, in the other text, of the head that prefers the first candidate most."""
    before, after = asked.preference, other.preference
    layer, head = (int(place) for place in np.unravel_index(int(np.nanargmax(before)), before.shape))
    now = other.strengths[:, layer, head]
    kept = after[layer, head] > 0
    names = other.name(other.words.first), other.name(other.words.second)
    mine, theirs = (0, 1) if kept else (1, 0)
    values: dict[str, Any] = {
        "head": head_label(layer, head),
        "word": names[mine],
        "weight": now[mine],
        "less": now[theirs],
        "other": names[theirs],
    }
    if kept and other.is_adjusted:
        return _(
            "In the other text, head {head} still prefers {word}: excess {weight:.2f} against {less:.2f} for {other}.",
            **values,
        )
    if kept:
        return _(
            "In the other text, head {head} still prefers {word}: {weight:.2f} against {less:.2f} for {other}.",
            **values,
        )
    if other.is_adjusted:
        return _(
            "In the other text, head {head} now prefers {word}: excess {weight:.2f} against {less:.2f} for {other}.",
            **values,
        )
    return _(
        "In the other text, head {head} now prefers {word}: {weight:.2f} against {less:.2f} for {other}.", **values
    )


def describe_flips(asked: HeadAnswers, turned: Flags, meaning: Flags, harmless: Sequence[HeadAnswers]) -> str:
    """Describe how many heads flip with the meaning, compared with harmless changes.

    ``turned`` and ``meaning`` are boolean maps (layer, head).
    """
    counts = [int(flips(asked.preference, one.preference).sum()) for one in harmless]
    values: dict[str, Any] = {"turned": int(turned.sum()), "meaning": int(meaning.sum()), "least": LEAST}
    values["size"] = int(np.isfinite(asked.preference).sum())
    if not counts:
        return _(
            "{turned} of {size} heads flip by over {least}, {meaning} of them from the first candidate to "
            "the second. Add neutral rewordings to see how many flip by chance.",
            **values,
        )
    return _(
        "{turned} of {size} heads flip by over {least}, {meaning} of them from the first candidate to the "
        "second. In neutral rewordings, {counts} flip ({mean:.1f} on average).",
        **values,
        counts=format_comma_list([str(count) for count in counts]),
        mean=sum(counts) / len(counts),
    )


def answers_csv(asked: HeadAnswers, other: HeadAnswers | None) -> bytes:
    """Return a CSV row per head with its weights in both texts."""
    both = [asked] if other is None else [asked, other]
    names = [asked.view.keys[cell].text for cell in (asked.words.first, asked.words.second)]
    header = [_("layer"), _("head")]
    header += [_("weight: {word}", word=name) for name in names]
    if other is not None:
        others = [other.view.keys[cell].text for cell in (other.words.first, other.words.second)]
        header += [_("weight: {word} (other text)", word=name) for name in others]
    header += [_("others give: {word}", word=name) for name in names]
    if other is not None:
        header += [_("others give: {word} (other text)", word=name) for name in others]
    rows = []
    for layer, head in np.argwhere(np.isfinite(asked.preference)).tolist():
        weights = [_digits(weight) for one in both for weight in one.found[:, layer, head]]
        given = [_digits(weight) for one in both for weight in one.usual[:, layer, head]]
        rows.append([layer, head, *weights, *given])
    return csv_table(header, rows).encode()


def _digits(weight: float) -> float | None:
    return None if np.isnan(weight) else float(f"{weight:.6g}")
