"""From letters to a probability: every stage of one pass, computed anew, and any number opened down to the weights."""

import streamlit as st

from attention.trace import Trace
from inference import Refusal
from inference.questions.whole_pass import EMBEDDINGS, PROBABILITIES, Stage
from ui.input.composing import compose
from ui.input.models import kind_of
from ui.pages.whole_pass import ending, numbers
from ui.pages.whole_pass.asking import Asked, pass_of
from ui.pages.whole_pass.change import change, preset
from ui.pages.whole_pass.number import number
from ui.pages.whole_pass.options import Options
from ui.pages.whole_pass.picture import around, draw_layer, draw_stack, parts_of
from ui.pages.whole_pass.steps import along, head_and_zoom
from ui.pages.whole_pass.told import agreement, differences, ids, this_stage
from ui.run.reading import read
from ui.run.refusals import say, show
from ui.show.reading_help import reading_help
from ui.state.choice import Choice
from ui.state.options import own
from ui.state.session import current
from wording import _


def how_to_read() -> None:
    """Three lines for a first-time reader."""
    with reading_help():
        st.markdown(
            _(
                "- A pass is a few hundred functions, one after the other. Those that only move numbers about are "
                "left out; all others are stages, in the order in which the model runs them. Alt+PageUp and "
                "Alt+PageDown go one back and one on.\n"
                "- Beside the model, numpy computes the same from the ids and the weights of the file alone, by the "
                "formula of each function; the largest difference is said. What has no formula here is said too.\n"
                "- Any number opens: it is the sum of its terms, each made of numbers of earlier stages or of weights "
                "in the file. How attention weights come about is opened by the page Step by step."
            )
        )


def chosen_of(asked: Asked, options: Options) -> Stage:
    """The stage that is looked at: by itself the last, where the pass ends in probabilities, else the first."""
    stages = asked.passed.stages
    usual = len(stages) - 1 if stages[-1].part == PROBABILITIES else 0
    return stages[min(usual if options.stage is None else options.stage, len(stages) - 1)]


def stack(asked: Asked, chosen: Stage, options: Options, choice: Choice) -> Stage:
    """The whole pass in one picture, and what it ends with; the stage that is marked in it."""
    parts = parts_of(asked.passed.stages)
    marked = next(part for part in parts if part.number >= chosen.number)
    at, likely = ending.likely(asked, options)
    ending.tell(asked, choice, at, likely)
    along(asked, marked, parts)
    draw_stack(asked, parts, marked)
    preset(asked)
    ending.picture(asked, at, likely)
    return marked


def stage(asked: Asked, chosen: Stage, options: Options) -> None:
    """The numbers of one stage, one of them opened, and what becomes of the end if they are changed."""
    along(asked, chosen, asked.passed.stages)
    try:
        found = numbers.find(asked, chosen, options)
        change(asked, chosen, options, found)
        numbers.draw(asked, chosen, found)
        number(asked, chosen, found.place, found.name)
    except Refusal as refusal:
        show(refusal)


def draw(choice: Choice, trace: Trace, options: Options) -> None:
    """The pass at the chosen zoom."""
    asked = pass_of(choice, trace, options)
    if asked is None:
        return
    head_and_zoom(asked)
    chosen = chosen_of(asked, options)
    if options.zoom == "stack":
        chosen = stack(asked, chosen, options, choice)
    elif options.zoom == "layer":
        along(asked, chosen, asked.passed.stages)
        draw_layer(asked, around(asked.passed.stages, chosen), chosen)
    else:
        stage(asked, chosen, options)
    if chosen.part == EMBEDDINGS:
        say(ids(asked), role="status")
    this_stage(choice, asked, chosen, options)
    for said in (agreement(asked), differences(asked)):
        say(said, role="status")


st.title(_("The whole pass, from letters to a probability"))
chosen_text = current()
compose(chosen_text, kind_of(chosen_text))
own_options = own(Options)
found = read(chosen_text)
if found is not None:
    draw(chosen_text, found, own_options)
how_to_read()
