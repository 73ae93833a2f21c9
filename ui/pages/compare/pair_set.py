"""A set of text pairs on the view Compare: its source, a table of heads, and the pairs with a head's results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import streamlit as st

from i18n import _, gettext_lazy, translate
from inference import UserError
from probing.text_pairs import TextPair, parse
from ui.input.controls import bound_widget, head_of, keep_head
from ui.input.model_chip import draw_model_chip
from ui.input.text_files import TABLES, pick_encoding
from ui.input.view_options import pick_part
from ui.pages.compare.options import CompareOptions, pick_words
from ui.pages.compare.pair_set_result import (
    COLUMNS,
    FEWEST_TEXTS,
    PairSet,
    Place,
    describe_head,
    describe_pair_set,
    first_of,
    heads_csv,
    mean_change,
    measure_set,
    pairs_of_head_csv,
    set_provenance,
)
from ui.paths import ASSETS
from ui.run.downloading import offer_or_show
from ui.run.notices import show_notice
from ui.run.services import ViewOptions
from ui.show.chart import draw_chart, theme
from ui.show.sections import open_section
from ui.show.tables import csv_table, download_button, draw_table
from ui.show.text import format_small, join_sentences
from ui.show.views import link_to_view
from ui.state.params import format_params
from ui.state.selection import resolve_view
from ui.state.session import FRESH
from ui.state.view_state import LONGEST_LINK, ViewState, fits, to_query
from viz.figures.head_maps import head_map, mark_heads
from viz.figures.theme import truncate

FILE, PARSED, ENCODING = "compare_file", "compare_parsed", "compare_encoding"
WANTED = gettext_lazy(
    "CSV, TSV, JSON Lines or Parquet with texts in columns a and b. Optional column kind: "
    "“change” (of meaning, default) or “control” (of wording)."
)


def _ready_pairs() -> tuple[TextPair, ...]:
    found = []
    for probe in json.loads((ASSETS / "probes.json").read_text(encoding="utf-8")):
        if probe["language"] == "English":
            found.append(TextPair(probe["text"], probe["other"]))
            found += [TextPair(probe["text"], neutral, control=True) for neutral in probe["neutral"]]
    return tuple(found)


READY = _ready_pairs()


def pick_pairs(bring: str) -> tuple[TextPair, ...] | None:
    """Draw the widgets that select or upload a set of text pairs, and return the pairs.

    ``bring`` is "ready" for the bundled pairs, otherwise the pairs come from a file. Return None until a valid file is
    uploaded.
    """
    bound_widget(CompareOptions, "bring", st.segmented_control, required=True)
    if bring == "ready":
        changes = sum(not pair.control for pair in READY)
        show_notice(
            _(
                "{changes} English pairs that differ in meaning, {controls} that differ in wording.",
                changes=changes,
                controls=len(READY) - changes,
            ),
            role="status",
        )
        download_button(
            _("Save these pairs"),
            pairs_csv(READY),
            "headlight-pairs.csv",
            _("To edit and open"),
        )
        return READY
    uploaded = st.file_uploader(
        _("File of pairs"),
        TABLES,
        key=FILE,
        max_upload_size=5,
        help=_("At most 500 pairs"),
    )
    if uploaded is None:
        show_notice(WANTED, role="status")
        return None
    try:
        encoding = pick_encoding(ENCODING, uploaded.file_id, uploaded.name, uploaded.getvalue)
        return _parse_once((uploaded.file_id, encoding), uploaded.getvalue())
    except UserError as refusal:
        show_notice(refusal.message)
        return None


def pairs_csv(pairs: tuple[TextPair, ...]) -> str:
    """Return pairs as a CSV file that can be uploaded again."""
    lines = ([pair.a, pair.b, "control" if pair.control else "change"] for pair in pairs)
    return csv_table(["a", "b", "kind"], lines)


def _parse_once(file: tuple[str, str], content: bytes) -> tuple[TextPair, ...]:
    """Parse a file of pairs, once per file and encoding, since the page runs again at every click."""
    kept: tuple[tuple[str, str], tuple[TextPair, ...]] = st.session_state.get(PARSED, (("", ""), ()))
    if kept[0] != file:
        kept = st.session_state[PARSED] = (file, parse(content, file[1]))
    return kept[1]


CHANGED, CONTROL = "compare_set_changed", "compare_set_control"
PER_LEAF = 6  # pairs on a page of the list
LONGEST = 240  # characters of a text in the list; longer texts are truncated


def draw_set(choice: ViewState, options: CompareOptions) -> None:
    """Draw a set of text pairs, its summary, maps and table of heads, and the results for the chosen head."""
    draw_model_chip(choice)
    pairs = pick_pairs(options.bring)
    if pairs is None:
        return
    first = first_of(choice, pairs)
    if first is None:
        return
    look, notes = resolve_view(choice, first)
    for note in notes:
        show_notice(note, role="status")
    pick_part(first, look)
    try:
        found = measure_set(choice, pairs, look, pick_words())
    except UserError as refusal:
        offer_or_show(refusal, choice)
        return
    if found is None:
        return
    result = describe_pair_set(found)
    for sentence in result:
        show_notice(sentence, role="status")
    head = head_of(choice, found.as_map(found.meaning_excess))
    _maps(found, head, choice, look, result)
    _table(found, choice)
    _pairs(found, head, choice, options)


def _maps(found: PairSet, head: Place, choice: ViewState, look: ViewOptions, result: Sequence[str]) -> None:
    """Draw the mean change of each head for changed meanings and for controls, on a common scale.

    A click selects a head. ``result`` are the sentences on the test, which the methods of both maps contain.
    """
    note = _(
        "Mean Jensen–Shannon divergence over pairs, rows scaled to the compared words; pairs that share a "
        "text count once. Ring: changes more with meaning than wording (α = 0.05)."
    )
    test = join_sentences(*result, note)
    told = found.across
    left, right = st.columns(2)
    limit = float(np.nanmax([*told.change.mean, *told.control.mean, 1e-6]))
    common: dict[str, Any] = {"limit": limit, "selected": head}
    if told.change.n:
        figure = head_map(
            found.as_map(told.change.mean), theme(), _("Meaning changes"), _("divergence (bits)"), **common
        )
        mark_heads(
            figure, [found.place(int(at)) for at in told.more_heads], "circle-open", theme(), "more with meaning"
        )
        computation = mean_change(found, choice, look, "change")
        about = partial(set_provenance, found, choice)
        draw_chart(figure, CHANGED, place=left, on_click=keep_head, about=about, computation=computation,
                   test=test)  # fmt: skip
    if told.control.n:
        figure = head_map(
            found.as_map(told.control.mean), theme(), _("Only wording changes"), _("divergence (bits)"), **common
        )
        computation = mean_change(found, choice, look, "control")
        about = partial(set_provenance, found, choice)
        draw_chart(figure, CONTROL, place=right, on_click=keep_head, about=about, computation=computation,
                   test=test)  # fmt: skip
    st.caption(note)


def _table(found: PairSet, choice: ViewState) -> None:
    """Draw the figures of all heads as a table, with a download."""
    if section := open_section(_("Every head"), "compare_set_open"):
        with section:
            st.caption(
                _(
                    "Bits, with bootstrap-t 95% intervals from {n} texts on. “more”: change minus control, in texts "
                    "with both.",
                    n=FEWEST_TEXTS,
                )
            )
            draw_table(_columns_of_heads(found), key="compare_set_table")
    download_button(_("Save all heads"), heads_csv(found), "headlight-across-heads.csv",
         _("All digits"),
         provenance=set_provenance(found, choice) | COLUMNS)  # fmt: skip


def _columns_of_heads(found: PairSet) -> dict[str, list[object]]:
    """Return the columns of the table of all heads, the largest excess first."""
    across = found.across
    order = np.argsort(-found.meaning_excess, kind="stable")
    columns: dict[str, list[object]] = {_("Head"): [found.name(int(at)) for at in order]}
    for name, mean in ((_("change"), across.change), (_("control"), across.control), (_("more"), across.more)):
        if mean.n:
            low, high = _("{name}, low", name=name), _("{name}, high", name=name)
            for what, values in ((name, mean.mean), (low, mean.low), (high, mean.high)):
                columns[what] = [None if np.isnan(values[at]) else round(float(values[at]), 4) for at in order]
    if across.has_test:
        columns[_("than the control")] = [translate(across.verdict(int(at))) for at in order]
        columns[_("p (Holm)")] = [float(f"{across.p[at]:.3g}") for at in order]
    return columns


def _pairs(found: PairSet, head: Place, choice: ViewState, options: CompareOptions) -> None:
    """Draw the pairs sorted by the head's change, each with a link to its comparison."""
    st.header(_("Pairs"))
    show_notice(describe_head(found, head), role="status")
    bits = found.bits[:, head[0], head[1]]
    order = [int(at) for at in np.argsort(-bits, kind="stable")]
    leaves = ceil(len(order) / PER_LEAF)
    leaf = max(1, min(options.leaf, leaves))
    if leaves > 1:
        about = _("{all:,} pairs, most changed first", all=len(order))
        bound_widget(
            CompareOptions,
            "leaf",
            st.number_input,
            _("Part, of {leaves:,}", leaves=leaves),
            1,
            leaves,
            shown=leaf,
            help=about,
        )
    for at in order[(leaf - 1) * PER_LEAF : leaf * PER_LEAF]:
        pair = found.pairs[at]
        said = _(
            "{bits} bits, {kind}: “{one}” | “{other}”",
            bits=format_small(float(bits[at])),
            kind=_("control") if pair.control else _("change"),
            one=truncate(pair.a, LONGEST),
            other=truncate(pair.b, LONGEST),
        )
        show_notice(said, role="status")
        there = CompareOptions(differs="text", other=pair.b, shared=found.shared)
        _link(replace(choice, **FRESH, text=pair.a, pair="", target=""), there, head)
    download_button(_("Save pair results"), pairs_of_head_csv(found, head), "headlight-across-pairs.csv",
         _("All digits"),
         provenance=set_provenance(found, choice))  # fmt: skip


def _link(there: ViewState, options: CompareOptions, head: Place) -> None:
    """Draw the link to the comparison of a pair, or a notice if the texts are too long for an address."""
    there = replace(there, layer=head[0], head=head[1])
    query = {**to_query(there), **format_params(options)}
    if fits(there) and sum(len(name) + len(raw) for name, raw in query.items()) <= LONGEST_LINK:
        link_to_view("compare", _("Compare both"), icon=":material/compare:",
                     query=query, help=_("Compare both"))  # fmt: skip
    else:
        show_notice(_("These texts are too long for a link."), role="status")
