"""The view BertViz: its three views of the current trace, offline."""

import streamlit as st

from attention.trace import Trace, attention_everywhere
from i18n import _, gettext_lazy, translate
from ui.input.composing import compose
from ui.pages.bertviz_views.routes import KINDS, PREFIX
from ui.routes.limits import in_language
from ui.run.notices import show_notice
from ui.run.page_model import kind_of
from ui.run.services import get_trace_store, trace_seal
from ui.run.traces import read_trace
from ui.show.chart import theme
from ui.show.views import link_to_view
from ui.state.examples import example_of
from ui.state.selection import resolve_view, select
from ui.state.session import get_view_state, set_view_state
from ui.state.view_state import ViewState
from viz.bertviz.views import height, too_long
from viz.figures.theme import DARK

NAMES = {
    "head": gettext_lazy("Head view: one layer, lines between two columns of tokens"),
    "model": gettext_lazy("Model view: every head at once"),
    "neuron": gettext_lazy("Neuron view: the query and the keys behind each weight"),
}
TITLES = {"head": gettext_lazy("Head"), "model": gettext_lazy("Model"), "neuron": gettext_lazy("Neuron")}
ALTS = {
    "head": gettext_lazy("BertViz head view of the text"),
    "model": gettext_lazy("BertViz model view of the text"),
    "neuron": gettext_lazy("BertViz neuron view of the text"),
}
KIND = "bertviz_kind"
TALLEST = 900  # pixels; longer documents scroll inside


def draw(choice: ViewState, trace: Trace) -> None:
    """Draw the chosen view, or the reason if it is not available for this text."""
    kind = choice.bertviz
    st.session_state[KIND] = kind
    st.segmented_control(
        _("View"),
        list(KINDS),
        required=True,
        key=KIND,
        format_func=lambda name: translate(TITLES[name]),
        on_change=lambda: set_view_state(bertviz=st.session_state[KIND]),
        help=_("The three views that BertViz has"),
    )
    st.caption(translate(NAMES[kind]))
    look, notes = resolve_view(choice, trace)
    view = get_trace_store().view(trace, look)
    for note in notes:
        show_notice(note, role="status")
    refused: str | None = (
        too_long(kind, view) if view.queries and view.keys else _("All tokens are special tokens, which are hidden.")
    )
    if kind == "neuron":
        refused = attention_everywhere(view.layers, view.attending) or refused
    if kind == "neuron" and not trace.has_qkv(look.part or None):
        refused = _(
            "{architecture} gives its finished maps only; the neuron view needs queries and keys.",
            architecture=trace.model.architecture,
        )
    if refused is not None:
        show_notice(refused, role="status")
        link_to_view("explore", _("Open all heads"), icon=":material/grid_view:")
        return
    selection = select(choice, view, example_of(trace.text, trace.pair or ""))[0]
    where = f"layer={selection['layer']}&head={selection['head']}&dark={int(theme() is DARK)}"
    address = f"{PREFIX}/{trace.id}/{kind}?{look.query()}&{where}&seal={trace_seal(trace.id)}" + in_language()
    st.iframe(address, height=min(height(kind, view), TALLEST), alt=translate(ALTS[kind]))


def draw_view() -> None:
    """Draw the view."""
    chosen = get_view_state()
    compose(chosen, kind_of(chosen))
    found = read_trace(chosen)
    if found is not None:
        draw(chosen, found)
