"""Sentences that describe a comparison of two readings."""

from __future__ import annotations

from typing import Any

import numpy as np

from i18n import _, translate
from i18n.lists import format_comma_list, join_sentences
from ui.pages.compare.comparison import Comparison
from ui.show.text import format_small

NOTICED = 0.005  # smallest share that is mentioned: it rounds to 0.01
MOST_NAMED = 6  # unmatched words that are listed by name


def describe_comparison(found: Comparison) -> list[str]:
    """Describe the link in focus, the changes of all heads, and the weights that were not compared."""
    return [translate(join_sentences(_link(found), _describe_heads(found))), *_left_out(found)]


def _link(found: Comparison) -> str:
    """Describe the weight from the query to the key in focus in both readings."""
    sides, row, column = found.sides, found.row, found.column
    focus = sides.beside.left.queries[found.focus].text
    first, second = sides.names()
    weights, others = found.rows()
    if found.target is None:
        return _("“{focus}” has no other word to attend to.", focus=focus)
    target = sides.beside.left.keys[found.target].text
    if row is None:
        return _(
            "Only the first run contains “{focus}”; in {head} it gives “{target}” {weight}. Pick another word.",
            focus=focus,
            head=found.name(found.head),
            target=target,
            weight=format_small(weights[found.target]),
        )
    if column is None:
        return _(
            "In {head}, “{focus}” gives “{target}” {weight} {where}; the second run lacks this word.",
            head=found.name(found.head),
            focus=focus,
            target=target,
            weight=format_small(weights[found.target]),
            where=first,
        )
    pairs = sides.beside.keys.pairs[column]
    one, other = (float(values[slice(*run)].sum()) for values, run in zip((weights, others), pairs, strict=True))
    focus, target = sides.label(row, key=False), sides.label(column, key=True)
    if found.unlike is None:
        return _(
            "In {head}, “{focus}” gives “{target}” {one} {first} and {other} {second}.",
            head=found.name(found.head),
            focus=focus,
            target=target,
            one=format_small(one),
            first=first,
            other=format_small(other),
            second=second,
        )
    return _(
        "“{focus}” gives “{target}” {one} in {head} of {first} and {other} in {partner} of {second}, its "
        "most similar head on {sentences} sentences ({unlike} bits).",
        focus=focus,
        target=target,
        one=format_small(one),
        head=found.name(found.head),
        first=sides.models[0],
        other=format_small(other),
        partner=found.name(found.partner),
        second=sides.models[1],
        sentences=found.sentences,
        unlike=format_small(found.unlike),
    )


def _describe_heads(found: Comparison) -> str:
    """Describe the head that changes most, and the change of the chosen head."""
    bits = found.changes.bits
    counted = int(np.isfinite(bits).sum())
    if not counted:
        return _("No row can be compared.")
    most = found.changes.most
    if bits[most] == 0:
        return _("None of the {heads} heads changes.", heads=counted)
    mine = float(bits[found.head])
    values: dict[str, Any] = {"heads": counted, "most": found.name(most), "bits": format_small(float(bits[most]))}
    if most == found.head or np.isnan(mine):
        return _("Head {most} changes most, by {bits} bits, of {heads} heads.", **values)
    return _(
        "Head {most} changes most, by {bits} bits, of {heads} heads; {head} changes by {mine}.",
        head=found.name(found.head),
        mine=format_small(mine),
        **values,
    )


def _left_out(found: Comparison) -> list[str]:
    """Describe the attention on words without a counterpart, and the sampling of rows in a long text."""
    lost = [float(side[found.head]) for side in found.changes.lost]
    said = []
    if max(lost) >= NOTICED:
        names = found.sides.names()
        said.append(
            _(
                "Only words in both runs are compared. Head {head} gives the rest, {words}, {one} of its "
                "attention {first} and {other} {second}.",
                head=found.name(found.head),
                words=_describe_unmatched(found),
                one=format_small(lost[0]),
                first=names[0],
                other=format_small(lost[1]),
                second=names[1],
            )
        )
    if found.changes.rows < found.changes.all_rows:
        said.append(
            _(
                "Long text: the map of all heads uses {rows:,} of {all_rows:,} rows, evenly spaced.",
                rows=found.changes.rows,
                all_rows=found.changes.all_rows,
            )
        )
    return said


def _describe_unmatched(found: Comparison) -> str:
    """List the words that only one reading has, at most MOST_NAMED of them by name."""
    beside = found.sides.beside
    both = zip((beside.left, beside.right), found.sides.unmatched_keys, strict=True)
    words = list(dict.fromkeys(f"“{view.keys[cell].text}”" for view, cells in both for cell in cells))
    named, more = format_comma_list(words[:MOST_NAMED]), len(words) - MOST_NAMED
    return _("{words} and {n:,} more", words=named, n=more) if more > 0 else named
