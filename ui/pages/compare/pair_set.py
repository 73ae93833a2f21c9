"""Results of a set of text pairs: the change of each head, and the pairs behind a head's number."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import streamlit as st

from i18n import _, ngettext, translate
from inference import UserError
from ui.input.controls import bound_widget, head_of, keep_head
from ui.input.view_options import pick_part
from ui.pages.compare.options import CompareOptions
from ui.pages.compare.pair_set_descriptions import describe_head, describe_pair_set
from ui.pages.compare.pair_set_files import heads_csv, pairs_of_head_csv, set_provenance
from ui.pages.compare.pair_set_results import PairSet, Place, first_of, measure_set
from ui.pages.compare.pair_set_source import pick_pairs
from ui.run.downloading import offer_or_show
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.tables import download_button, draw_table
from ui.show.text import format_small
from ui.show.views import link_to_view
from ui.state.params import format_params
from ui.state.selection import resolve_view
from ui.state.session import FRESH
from ui.state.view_state import LONGEST_LINK, ViewState, fits, to_query
from viz.figures.head_maps import head_map, mark_heads
from viz.figures.theme import truncate

CHANGED, CONTROL = "compare_set_changed", "compare_set_control"
PER_LEAF = 6  # pairs on a page of the list
LONGEST = 240  # characters of a text in the list; longer texts are truncated


def draw_set(choice: ViewState, options: CompareOptions) -> None:
    """Draw the set, its summary, the maps, the table of heads, and the pairs of the chosen head."""
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
        found = measure_set(choice, pairs, look)
    except UserError as refusal:
        offer_or_show(refusal, choice)
        return
    if found is None:
        return
    for sentence in describe_pair_set(found):
        show_notice(sentence, role="status")
    head = head_of(choice, found.as_map(found.meaning_excess))
    _maps(found, head, choice)
    _table(found, choice)
    _pairs(found, head, choice, options)


def _maps(found: PairSet, head: Place, choice: ViewState) -> None:
    """Draw the mean change of each head for changed meanings and for controls, on a common scale.

    A click selects a head.
    """
    told = found.across
    left, right = st.columns(2)
    limit = float(np.nanmax([*told.change.mean, *told.control.mean, 1e-6]))
    common: dict[str, Any] = {"limit": limit, "selected": head}
    if told.change.n:
        figure = head_map(
            found.as_map(told.change.mean), theme(), _("Meaning changes"), _("divergence (bits)"), **common
        )
        mark_heads(figure, [found.place(int(at)) for at in told.more_heads], "circle-open", theme())
        draw_chart(figure, CHANGED, place=left, on_click=keep_head, about=partial(set_provenance, found, choice))
    if told.control.n:
        figure = head_map(
            found.as_map(told.control.mean), theme(), _("Only wording changes"), _("divergence (bits)"), **common
        )
        draw_chart(figure, CONTROL, place=right, on_click=keep_head, about=partial(set_provenance, found, choice))
    st.caption(
        _(
            "Each cell is a head: mean Jensen–Shannon divergence over the pairs; pairs that share a text "
            "count once. Both maps share a scale. Ring: changes more with meaning than wording (two-sided "
            "permutation test, Holm-corrected, α = 0.05). Frame: the selected head; click to select another."
        )
    )


def _table(found: PairSet, choice: ViewState) -> None:
    """Draw the figures of all heads as a table, with a download."""
    across = found.across
    order = np.argsort(-found.meaning_excess, kind="stable")
    columns: dict[str, list[object]] = {_("head"): [found.name(int(at)) for at in order]}
    for name, mean in ((_("change"), across.change), (_("control"), across.control), (_("more"), across.more)):
        if mean.n:
            low, high = _("{name}, low", name=name), _("{name}, high", name=name)
            for what, values in ((name, mean.mean), (low, mean.low), (high, mean.high)):
                columns[what] = [None if np.isnan(values[at]) else round(float(values[at]), 4) for at in order]
    if across.has_test:
        columns[_("than the control")] = [translate(across.verdict(int(at))) for at in order]
        columns[_("p, two-sided")] = [float(f"{across.p[at]:.3g}") for at in order]
    with st.expander(_("Every head")):
        st.caption(_("In bits, with bootstrap 95 % intervals. “more”: change minus control, for texts with both."))
        draw_table(columns, key="compare_set_table")
    download_button(_("Save all heads"), heads_csv(found), "headlight-across-heads.csv",
         _("Mean change, control and test result as CSV, all digits; heads count from 0"),
         provenance=set_provenance(found, choice))  # fmt: skip


def _pairs(found: PairSet, head: Place, choice: ViewState, options: CompareOptions) -> None:
    """Draw the pairs sorted by the head's change, each with a link to its comparison."""
    st.subheader(_("Pairs of texts"))
    show_notice(describe_head(found, head), role="status")
    bits = found.bits[:, head[0], head[1]]
    order = [int(at) for at in np.argsort(-bits, kind="stable")]
    leaves = ceil(len(order) / PER_LEAF)
    leaf = max(1, min(options.leaf, leaves))
    if leaves > 1:
        about = _("{all:,} pairs, most changed first; {n} per part", all=len(order), n=PER_LEAF)
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
            "{bits} bits, {kind}, {words}: “{one}” | “{other}”",
            bits=format_small(float(bits[at])),
            kind=_("wording only") if pair.control else _("meaning"),
            words=ngettext("{n} word", "{n} words", pair.words, n=pair.words),
            one=truncate(pair.a, LONGEST),
            other=truncate(pair.b, LONGEST),
        )
        show_notice(said, role="status")
        _link(replace(choice, **FRESH, text=pair.a, pair="", target=""), pair.b, head)
    download_button(_("Save pair results"), pairs_of_head_csv(found, head), "headlight-across-pairs.csv",
         _("This head's divergence for each pair as CSV, all digits; heads count from 0"),
         provenance=set_provenance(found, choice))  # fmt: skip


def _link(there: ViewState, other: str, head: Place) -> None:
    """Draw the link to the comparison of a pair, or a notice if the texts are too long for an address."""
    there = replace(there, layer=head[0], head=head[1])
    query = {**to_query(there), **format_params(CompareOptions(differs="text", other=other))}
    if fits(there) and sum(len(name) + len(raw) for name, raw in query.items()) <= LONGEST_LINK:
        link_to_view("compare", _("Compare words"), icon=":material/compare:",
                     query=query, help=_("These two texts in this head, word by word"))  # fmt: skip
    else:
        show_notice(_("These texts are too long for a link."), role="status")
