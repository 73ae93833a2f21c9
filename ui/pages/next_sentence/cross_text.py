"""Next sentence page: the attention between both texts and special tokens."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attention.tokens import TokenRow
from attention.view import GROUPS, flow, group
from i18n import _
from inference import TraceRequest
from ui.input.controls import head_of, keep_head, rank_of
from ui.pages.next_sentence.options import NextSentenceOptions
from ui.run.notices import show_notice
from ui.run.page_model import PageModel
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_microscope
from ui.state.params import get_params, set_params
from ui.state.session import get_view_state, set_view_state
from ui.state.view_state import ViewState
from viz.figures import head_maps

MAP = "flow_map"
FILTERS = {("a", "a"): "aa", ("a", "b"): "ab", ("b", "a"): "ba", ("b", "b"): "bb"}


def draw_cross_text(choice: ViewState, who: PageModel, texts: tuple[str, str]) -> None:
    """Draw the attention of each head from a group of tokens to another, and the attention view."""
    request = TraceRequest(who.model, texts[0], texts[1], revision=who.revision, cut=choice.cut)
    with st.spinner(_("Reading both texts"), show_time=True):
        trace = get_backend().trace(request)
    row, options = trace.source, get_params(NextSentenceOptions)
    looks, at = _pick(row, options)
    if not group(row, looks):
        show_notice(_("This model adds no such token; pick another group."), role="status")
        return
    shares = flow(trace, group(row, looks), group(row, at))
    layer, head = head_of(choice, shares)
    names = _names(row)
    show_notice(
        _(
            "Head {layer}-{head}: {looks} gives {at} {share:.2f} of its attention; {rank}.",
            layer=layer,
            head=head,
            looks=names[looks],
            at=names[at],
            share=shares[layer, head],
            rank=rank_of(shares, layer, head),
        ),
        role="status",
    )
    figure = head_maps.head_map(
        shares,
        theme(),
        _("From {looks} to {at}", looks=names[looks], at=names[at]),
        _("share of attention"),
        selected=(layer, head),
    )
    draw_chart(figure, MAP, on_click=keep_head)
    st.caption(
        _(
            "Each cell is a head: the weight on {at}, averaged over the tokens of {looks}. Click to select.",
            looks=names[looks],
            at=names[at],
        )
    )
    draw_microscope(replace(choice, layer=layer, head=head), trace, lambda: _shown_trace_id(who, texts))


def _shown_trace_id(who: PageModel, texts: tuple[str, str]) -> str:
    """Return the id of the trace for the current view state; "" if its texts have changed."""
    now = get_view_state()
    same = (now.text, now.pair) == texts or not now.pair.strip()
    return TraceRequest(who.model, *texts, revision=who.revision, cut=now.cut).key if same else ""


def _pick(row: TokenRow, options: NextSentenceOptions) -> tuple[str, str]:
    names = _names(row)
    with st.container(horizontal=True):
        for field, label, text in (
            ("looks", _("Attention from"), _("The query tokens")),
            ("at", _("Attention to"), _("The key tokens")),
        ):
            key = f"next_{field}"
            st.session_state[key] = getattr(options, field)
            st.segmented_control(
                label,
                list(GROUPS),
                key=key,
                format_func=names.__getitem__,
                required=True,
                on_change=_regroup,
                help=text,
            )
    return options.looks, options.at


def _regroup() -> None:
    """Store the selected groups in the options, and filter the attention view by the same groups.

    The filter applies only if both groups are words of a text.
    """
    looks, at = st.session_state["next_looks"], st.session_state["next_at"]
    set_params(NextSentenceOptions, looks=looks, at=at)
    set_view_state(layer=None, head=None, filter=FILTERS.get((looks, at), "all"))


def _names(row: TokenRow) -> dict[str, str]:
    """Return the display name of each group.

    Special tokens have neutral names if the model's tokens are not [CLS] and [SEP].
    """
    known = {piece for piece, word in zip(row.pieces, row.words, strict=True) if word is None}
    bert = {"[CLS]", "[SEP]"} <= known
    return {
        "a": "A",
        "b": "B",
        "first": "[CLS]" if bert else _("first special token"),
        "others": "[SEP]" if bert else _("other special tokens"),
    }
