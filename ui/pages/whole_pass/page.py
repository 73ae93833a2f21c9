"""The view Whole pass: every stage of a forward pass, recomputed, with each number traced to weights."""

import streamlit as st

from attention.trace import Trace
from i18n import _
from inference import UserError
from inference.tasks.whole_pass import EMBEDDINGS, PROBABILITIES, Stage
from ui.input.composing import compose
from ui.pages.whole_pass import ending, numbers
from ui.pages.whole_pass.change import change, preset
from ui.pages.whole_pass.descriptions import differences, ids, this_stage
from ui.pages.whole_pass.inspector import PassInspector, inspect_pass
from ui.pages.whole_pass.number import number
from ui.pages.whole_pass.options import WholePassOptions
from ui.pages.whole_pass.picture import draw_layer, draw_stack, parts_of, stages_of_layer
from ui.pages.whole_pass.steps import draw_stage_steps, head_and_zoom
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.traces import read_trace
from ui.show.reading_help import reading_help
from ui.state.params import get_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- A **stage** is one function of the forward pass, in the order of computation. Functions "
                "that only move numbers are left out.\n- Every number is a sum of terms, made of earlier "
                "numbers and of weights in the file. Click a number to see its terms."
            )
        )


def chosen_of(asked: PassInspector, options: WholePassOptions) -> Stage:
    """Return the chosen stage, by default the last if the pass ends in probabilities, else the first."""
    stages = asked.result.stages
    usual = len(stages) - 1 if stages[-1].part == PROBABILITIES else 0
    return stages[min(usual if options.stage is None else options.stage, len(stages) - 1)]


def stack(asked: PassInspector, chosen: Stage, options: WholePassOptions, choice: ViewState) -> Stage:
    """Draw the whole pass and its output, and return the stage that is marked in the picture."""
    parts = parts_of(asked.result.stages)
    marked = next(part for part in parts if part.number >= chosen.number)
    at, likely = ending.likely_end(asked, options)
    ending.draw_end(asked, choice, at, likely)
    draw_stack(asked, parts, marked)
    draw_stage_steps(asked, marked, parts)
    preset(asked)
    ending.picture(asked, at, likely)
    return marked


def stage(asked: PassInspector, chosen: Stage, options: WholePassOptions) -> None:
    """Draw the numbers of a stage, the opened number, and the effect of a change to the numbers."""
    draw_stage_steps(asked, chosen, asked.result.stages)
    try:
        found = numbers.find(asked, chosen, options)
        change(asked, chosen, options, found)
        numbers.draw(asked, chosen, found)
        number(asked, chosen, found.place, found.name)
    except UserError as refusal:
        show_error(refusal)


def draw(choice: ViewState, trace: Trace, options: WholePassOptions) -> None:
    """Draw the forward pass at the chosen zoom level."""
    asked = inspect_pass(choice, trace, options)
    if asked is None:
        return
    head_and_zoom(asked)
    chosen = chosen_of(asked, options)
    if options.zoom == "stack":
        chosen = stack(asked, chosen, options, choice)
    elif options.zoom == "layer":
        draw_layer(asked, stages_of_layer(asked.result.stages, chosen), chosen)
        draw_stage_steps(asked, chosen, asked.result.stages)
    else:
        stage(asked, chosen, options)
    if chosen.part == EMBEDDINGS:
        show_notice(ids(asked), role="status")
    this_stage(choice, asked, chosen, options)
    show_notice(differences(asked), role="status")


def draw_view() -> None:
    """Draw the view."""
    chosen_text = get_view_state()
    compose(chosen_text, kind_of(chosen_text))
    own_options = get_params(WholePassOptions)
    found = read_trace(chosen_text)
    if found is not None:
        draw(chosen_text, found, own_options)
    how_to_read()
