"""What does BertViz show? Its three views on the same trace, offline."""

import streamlit as st

from attention.trace import Trace, attention_everywhere
from ui.input.composing import compose
from ui.input.models import kind_of
from ui.pages.bertviz_views.routes import KINDS, PREFIX
from ui.routes.reader import in_language
from ui.run.reading import read
from ui.run.refusals import say
from ui.run.shelf import seal, shelf
from ui.show.chart import theme
from ui.state.choice import Choice
from ui.state.examples import example_of
from ui.state.selection import select, settle
from ui.state.session import choose, current
from viz.bertviz.budget import too_long
from viz.bertviz.views import height
from viz.figures.theme import DARK
from wording import _, sentence, told

NAMES = {
    "head": sentence("Head view: one layer, lines between two columns of tokens"),
    "model": sentence("Model view: every head at once"),
    "neuron": sentence("Neuron view: the query and the keys behind each weight"),
}
TITLES = {"head": sentence("Head"), "model": sentence("Model"), "neuron": sentence("Neuron")}
ALTS = {
    "head": sentence("BertViz head view of the text"),
    "model": sentence("BertViz model view of the text"),
    "neuron": sentence("BertViz neuron view of the text"),
}
KIND = "bertviz_kind"
TALLEST = 900  # pixels; longer documents scroll inside


def draw(choice: Choice, trace: Trace) -> None:
    """The chosen view, or why it is not offered for this text."""
    kind = choice.bertviz
    st.session_state[KIND] = kind
    st.segmented_control(
        _("View"),
        list(KINDS),
        required=True,
        key=KIND,
        format_func=lambda name: told(TITLES[name]),
        on_change=lambda: choose(bertviz=st.session_state[KIND]),
        help=_("The three views that BertViz has"),
    )
    st.caption(told(NAMES[kind]))
    look, notes = settle(choice, trace)
    view = shelf().view(trace, look)
    for note in notes:
        say(note, role="status")
    refused: str | None = (
        too_long(kind, view) if view.queries and view.keys else _("All tokens are special tokens, which are hidden.")
    )
    if kind == "neuron":
        refused = attention_everywhere(view.layers, view.attending, choice.count) or refused
    if kind == "neuron" and not trace.has_qkv(look.part or None):
        refused = _(
            "{architecture} gives its finished maps only; the neuron view needs queries and keys.",
            architecture=trace.model.architecture,
        )
    if refused is not None:
        say(refused, role="status")
        st.page_link("../../pages/explore.py", label=_("Look at it on the Explore page"), icon=":material/grid_view:")
        return
    selection = select(choice, view, example_of(trace.text, trace.pair or ""))[0]
    where = f"layer={selection['layer']}&head={selection['head']}&dark={int(theme() is DARK)}"
    address = (
        f"{PREFIX}/{trace.id}/{kind}?{look.query()}&{where}&count={choice.count}&seal={seal(trace.id)}" + in_language()
    )
    st.iframe(address, height=min(height(kind, view), TALLEST), alt=told(ALTS[kind]))


st.title(_("What does BertViz show of the same trace?"))
chosen = current()
compose(chosen, kind_of(chosen))
found = read(chosen)
if found is not None:
    draw(chosen, found)
