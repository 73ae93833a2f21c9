"""The view Step by step: a head's attention weight, computed from the layer's own weights."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.record import Record
from attention.trace import Trace
from i18n import _, gettext_lazy, translate
from ui.input.composing import compose
from ui.input.controls import control_row, pick_stage
from ui.input.view_options import pick_part
from ui.pages.step_by_step import steps
from ui.pages.step_by_step.explanations import paper
from ui.pages.step_by_step.multi_head import multi_head
from ui.pages.step_by_step.steps import neuron
from ui.pages.step_by_step.weight import STAGES, StepOptions, WeightPlace, decompose_weight, find, pick_head, pick_pair
from ui.pages.step_by_step.what_if import what_if
from ui.run.notices import show_notice
from ui.run.page_model import kind_of
from ui.run.traces import read_trace
from ui.show.chart import theme
from ui.show.sections import draw_reading_help
from ui.state.params import get_params, set_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState
from viz.figures.theme import sides

SHOW = "steps_show"
NAMES = {
    "steps": gettext_lazy("Step by step"),
    "neuron": gettext_lazy("Neuron view"),
    "rules": gettext_lazy("What if?"),
    "heads": gettext_lazy("All heads"),
}


def how_to_read() -> None:
    """Draw the help text."""
    below, above = sides(theme())
    draw_reading_help(
        _(
            "- A **strip** shows a vector: {below} negative, {above} positive. Framed: the selected pair.\n"
            "- The steps compute softmax(q · kᵀ / √d_k) · v ({paper}, equation 1) from the layer's "
            "matrices and compare it with its output.\n"
            "- Tokens are the model's own, whatever View options merge or hide.",
            below=below,
            above=above,
            paper=paper("1706.03762"),
        )
    )


def pick_view() -> str:
    """Draw the widget that selects the view, and return the chosen view."""
    shown = get_params(StepOptions).show
    st.session_state[SHOW] = shown
    st.segmented_control(
        _("View"),
        list(NAMES),
        key=SHOW,
        required=True,
        format_func=lambda name: translate(NAMES[name]),
        on_change=lambda: set_params(StepOptions, show=st.session_state[SHOW]),
    )
    return shown


def draw_decomposition(choice: ViewState, spot: WeightPlace, shown: str, row: DeltaGenerator) -> None:
    """Draw the chosen view ``shown`` of an attention weight.

    If the layer cannot be decomposed, draw only its scores, or only its weights if it has no queries and keys. ``row``
    is the container of the buttons Back and Next.
    """
    has_vectors = isinstance(spot.record, Record)
    if has_vectors and shown == "neuron":
        neuron(spot)
        return
    way = decompose_weight(choice, spot) if has_vectors else None
    if shown == "heads":
        multi_head(spot, None if way is None else way.layer.wiring)
    elif not has_vectors:
        steps.only_weights(spot)
    elif shown == "rules":
        what_if(spot, 1.0 if way is None else way.factor)
    elif way is None:
        steps.only_scores(spot)
    else:
        steps.steps(way, pick_stage(StepOptions, STAGES, get_params(StepOptions).stage, row))


def draw(choice: ViewState, trace: Trace) -> None:
    """Draw the widgets that select the attention weight, its summary and the chosen view."""
    spot, look, notes = find(choice, trace)
    pick_part(trace, look)
    for note in notes:
        show_notice(note, role="status")
    row = control_row("steps")
    with row:
        shown = pick_view()
        pick_head(spot)
    with st.container(key="weight_pair"):  # less space between its elements (assets/app.css)
        pick_pair(spot)
        show_notice(steps.sentence(spot), role="status")
    draw_decomposition(choice, spot, shown, row)
    how_to_read()


def draw_view() -> None:
    """Draw the view Step by step in the page."""
    chosen = get_view_state()
    compose(chosen, kind_of(chosen))
    found = read_trace(chosen)
    if found is not None:
        draw(chosen, found)
