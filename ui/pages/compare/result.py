"""Sentences and downloads on a comparison of two readings, with the provenance of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attention.comparison import no_common_words
from attention.edits import pack
from attention.mask import FloatArray
from i18n import _, translate
from i18n.lists import format_comma_list, join_sentences
from ui.ablation.edits import edit_settings
from ui.pages.compare.comparison import Comparison
from ui.show.tables import csv_table
from ui.show.text import format_share, format_small
from viz.components.matrices.matrices import MatrixSpec, matrices_html
from viz.export import caption, format_value

NOTICED = 0.005  # smallest share that is mentioned: it rounds to 0.01
SCALED_ROWS = {"compared_rows": "scaled to the compared words"}  # the setting of each divergence, see its caption
MOST_NAMED = 6  # unmatched words that are listed by name


def describe_comparison(found: Comparison) -> list[str]:
    """Describe the selected link, the changes of all heads, and the attention to unmatched words.

    Unmatched words have no counterpart in the other text. If no words correspond, the first sentence names the special
    tokens that are compared instead.
    """
    if special := _special_alone(found):
        return [translate(join_sentences(no_common_words(special), _link(found), _describe_heads(found)))]
    return [translate(join_sentences(_link(found), _describe_heads(found))), *_left_out(found)]


def _special_alone(found: Comparison) -> str:
    """List the special tokens that are compared if no words correspond, else return ""."""
    beside = found.sides.beside
    both = (beside.left.queries, beside.queries), (beside.left.keys, beside.keys)
    cells = [cells[at] for cells, aligned in both for (first, last), _run in aligned.pairs for at in range(first, last)]
    names = list(dict.fromkeys(cell.text for cell in cells))
    return format_comma_list(names) if all(cell.special for cell in cells) else ""


def _link(found: Comparison) -> str:
    """Describe the weight from the query to the key in focus in both readings."""
    sides, row, column = found.sides, found.row, found.column
    focus = sides.beside.left.queries[found.focus].text
    first, second = sides.names()
    weights, others = found.rows()
    if found.target is None:
        return _("“{focus}” has no other word to attend to.", focus=focus)
    target = sides.beside.left.keys[found.target].text
    if row is None or column is None:
        return _(
            "In head {head}, “{focus}” gives “{target}” {weight} {where}; the second run lacks “{missing}”.",
            head=found.name(found.head),
            focus=focus,
            target=target,
            weight=format_share(weights[found.target]),
            where=first,
            missing=focus if row is None else target,
        )
    pairs = sides.beside.keys.pairs[column]
    one, other = (float(values[slice(*run)].sum()) for values, run in zip((weights, others), pairs, strict=True))
    focus, target = sides.label(row, key=False), sides.label(column, key=True)
    if found.unlike is None:
        return _(
            "In head {head}, “{focus}” gives “{target}” {one} {first} and {other} {second}.",
            head=found.name(found.head),
            focus=focus,
            target=target,
            one=format_share(one),
            first=first,
            other=format_share(other),
            second=second,
        )
    return _(
        "“{focus}” gives “{target}” {one} in head {head} of {first} and {other} in head {partner} of "
        "{second}. Head {partner} is the most similar on {sentences} sentences ({unlike} bits).",
        focus=focus,
        target=target,
        one=format_share(one),
        head=found.name(found.head),
        first=sides.models[0],
        other=format_share(other),
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
    largest = _("Over aligned rows, head {most} of {heads} changes most: {bits} bits.", **values)
    if most == found.head or np.isnan(mine):
        return largest
    own = _("Head {head} changes by {mine}.", head=found.name(found.head), mine=format_small(mine))
    return join_sentences(largest, own)


def _left_out(found: Comparison) -> list[str]:
    """Describe the attention on words without a counterpart, and the sampling of rows in a long text."""
    lost = [float(side[found.head]) for side in found.changes.lost]
    said = []
    if max(lost) >= NOTICED:
        names = found.sides.names()
        said.append(
            _(
                "Only aligned words are compared. In head {head}, they give the other words, {words}, on average "
                "{one} of their attention {first} and {other} {second}.",
                head=found.name(found.head),
                words=_describe_unmatched(found),
                one=format_share(lost[0]),
                first=names[0],
                other=format_share(lost[1]),
                second=names[1],
            )
        )
    if found.changes.rows < found.changes.all_rows:
        said.append(
            _(
                "All heads: {rows:,} of {all_rows:,} rows, evenly spaced.",
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


def heads_csv(found: Comparison) -> str:
    """Return a CSV row per head of the first reading, with its partner in the second and their divergence in bits.

    The last columns are the weights on words that have no counterpart.
    """
    names = ["layer", "head", "second layer", "second head", "divergence in bits", "first, not compared",
             "second, not compared"]  # fmt: skip
    bits, (first, second) = found.changes.bits, found.changes.lost
    rows = (
        [*_numbers((layer, head)), *_numbers(tuple(found.heads[layer, head])),
         *(values[layer, head] for values in (bits, first, second))]
        for layer, head in np.ndindex(*bits.shape)
    )  # fmt: skip
    return csv_table(names, rows)


def links_csv(found: Comparison, rows: range, columns: range, first: FloatArray, second: FloatArray) -> str:
    """Return CSV with a row for each query word and key word: their weights in both readings.

    ``rows`` and ``columns`` are indices of the aligned pairs of queries and of keys. ``first`` and ``second`` are the
    weights of the chosen head between them, shape (query, key).
    """
    label = found.sides.label
    lines = (
        [label(row, key=False), label(column, key=True), one, other, other - one]
        for row, ones, others in zip(rows, first, second, strict=True)
        for column, one, other in zip(columns, ones, others, strict=True)
    )  # fmt: skip
    return csv_table(["from", "to", "first", "second", "second - first"], lines)


def page_html(found: Comparison, sentences: Sequence[str], sheets: Sequence[MatrixSpec]) -> str:
    """Return the maps and the changes of all heads as a self-contained HTML page."""
    bits = found.changes.bits
    layers, heads = (tuple(str(at) for at in range(size)) for size in bits.shape)
    grid = MatrixSpec(
        _("Change of each head"),
        bits,
        layers,
        heads,
        _("divergence (bits)"),
        "sequential",
        marked_rows=(found.head[0],),
        marked_columns=(found.head[1],),
    )
    scaled = [(name.replace("_", " "), value) for name, value in SCALED_ROWS.items()]
    return matrices_html(_("Headlight · comparison"), sentences, [*sheets, grid], [*caption_fields(found), *scaled])


def caption_fields(found: Comparison) -> list[tuple[str, str]]:
    """Return (name, value) pairs for a caption; values that differ between the readings appear twice."""
    told: list[tuple[str, str]] = []
    for name, one, other in _captions(found):
        told += [(name, one)] if one == other else [(f"{name}, first", one), (f"{name}, second", other)]
    return [(name, value) for name, value in told if value]


def comparison_provenance(found: Comparison) -> dict[str, Any]:
    """Return the provenance of a comparison: that of each reading, and the edits of the second reading."""
    one, other = _both_captions(found)
    edits = found.sides.edits
    settings = edit_settings(edits, found.sides.beside.right) if edits else {}
    return {"first": one, "second": other, "removed": pack(edits), **_left_out_words(found), **settings}


def divergence_provenance(found: Comparison) -> dict[str, Any]:
    """Return the provenance of the divergences of a comparison, which compare rows that are scaled to sum to one."""
    return {**comparison_provenance(found), **SCALED_ROWS}


def _captions(found: Comparison) -> list[list[str]]:
    """Return [name, first value, second value] for each field of the captions."""
    one, other = _both_captions(found)
    about = [
        [name.replace("_", " "), format_value(one.get(name)), format_value(other.get(name))] for name in one | other
    ]
    words = [[name.replace("_", " "), value, value] for name, value in _left_out_words(found).items()]
    return [*about, ["removed", "", pack(found.sides.edits)], *words]


def _left_out_words(found: Comparison) -> dict[str, str]:
    """Return a field of the provenance if replaced words are not compared, else no field."""
    return {"replaced_words": "left out"} if found.sides.options.shared else {}


def _both_captions(found: Comparison) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the captions of both readings, which suffice to compute the numbers again."""
    beside = found.sides.beside
    one, other = (caption(view, *place) for view, place in ((beside.left, found.head), (beside.right, found.partner)))
    return one, other


def _numbers(place: Sequence[int]) -> list[int]:
    return [int(number) for number in place]
