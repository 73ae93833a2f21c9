"""The view Side by side: two texts, two models, or a text before and after an ablation."""

import streamlit as st

from attention.trace import Trace
from i18n import _
from inference import UserError
from ui.input.composing import compose
from ui.input.controls import control_row
from ui.input.view_options import pick_part
from ui.pages.compare.comparison import compare
from ui.pages.compare.controls import pick_difference, pick_source, settle_difference
from ui.pages.compare.descriptions import describe_comparison
from ui.pages.compare.drawing import figures, maps
from ui.pages.compare.options import CompareOptions
from ui.pages.compare.pair_set import draw_set
from ui.pages.compare.sides import sides_of
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.traces import read_trace
from ui.show.reading_help import reading_help
from ui.state.params import get_params
from ui.state.selection import resolve_view
from ui.state.session import get_view_state
from ui.state.view_state import ViewState


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- Change one word and see which heads respond. A head that links *it* to *animal* for both "
                "*tired* and *wide* does not distinguish them.\n- A row is one word's attention. Rows are "
                "compared by Jensen–Shannon divergence "
                "([doi:10.1109/18.61115](https://doi.org/10.1109/18.61115)). Any edit changes some heads; "
                "*Find* counts the flips by harmless edits.\n- Head numbers correspond only between related "
                "models. Other models' heads are matched by their attention on the same sentences."
            )
        )


def draw_pair(choice: ViewState, options: CompareOptions) -> None:
    """Draw the text box and the control of the difference, then both readings."""
    compose(choice, kind_of(choice))
    settled = settle_difference(choice, options)
    with control_row("compare"):
        pick_source()
        pick_difference(settled.differs)
    trace = read_trace(choice)
    if trace is not None:
        draw(choice, trace, settled)


def draw(choice: ViewState, trace: Trace, options: CompareOptions) -> None:
    """Draw the controls of the second reading, the descriptions and the figures."""
    look, notes = resolve_view(choice, trace)
    for note in notes:
        show_notice(note, role="status")
    pick_part(trace, look)
    sides = sides_of(choice, trace, look, options)
    if sides is None:
        return
    try:
        found = compare(choice, sides)
    except UserError as refusal:
        show_error(refusal)
        return
    if found is None:
        return
    sentences = describe_comparison(found)
    for sentence in sentences:
        show_notice(sentence, role="status")
    figures(found)
    maps(found, sentences)


def draw_view() -> None:
    """Draw the view."""
    chosen, options_now = get_view_state(), get_params(CompareOptions)
    if options_now.show == "set" and not chosen.opened:
        pick_source()
        draw_set(chosen, options_now)
    else:
        draw_pair(chosen, options_now)
    how_to_read()
