"""From letters to a probability: every stage of one pass, computed anew, and any number opened down to the weights."""

from dataclasses import replace

import streamlit as st

from attention.trace import Trace
from inference import Refusal
from inference.questions.whole_pass import ATTENTION, Stage
from ui.input.composing import compose
from ui.input.models import kind_of
from ui.pages.whole_pass.asking import Asked, pass_of
from ui.pages.whole_pass.change import change
from ui.pages.whole_pass.names import place, short, title
from ui.pages.whole_pass.number import number
from ui.pages.whole_pass.options import Options
from ui.pages.whole_pass.picture import around, layer_name, numbers, overview, parts_of
from ui.pages.whole_pass.steps import along, head_and_zoom
from ui.run.reading import read
from ui.run.refusals import say, show
from ui.show.reading_help import reading_help
from ui.show.saving import save
from ui.state.choice import Choice, fits, to_query
from ui.state.options import own
from ui.state.session import current

MOST = 60  # pieces whose ids are said


def how_to_read() -> None:
    """Three lines for a first-time reader."""
    with reading_help():
        st.markdown(
            "- A pass is a few hundred functions, one after the other. Those that only move numbers about are left "
            "out; all others are stages, in the order in which the model runs them. Alt+PageUp and Alt+PageDown go "
            "one back and one on.\n"
            "- Beside the model, numpy computes the same from the ids and the weights of the file alone, by the "
            "formula of each function; the largest difference is said. What has no formula here is said too.\n"
            "- Any number opens: it is the sum of its terms, each made of numbers of earlier stages or of weights in "
            "the file. How attention weights come about is opened by the page Step by step."
        )


def differences(asked: Asked) -> str:
    """How near numpy comes to the model over the whole pass."""
    passed = asked.passed
    worst = passed.largest
    said = (
        f"{len(passed.stages)} stages from {len(passed.ids)} ids on, each computed anew in numpy from what numpy "
        f"computed before: the largest difference from the model is {worst.away:.1e}, where its numbers reach "
        f"{worst.size:.3g} ({place(worst, asked.base, asked.two)}, {title(worst)})."
    )
    for stage in passed.refused:
        said += f" Not computed anew: {place(stage, asked.base, asked.two)}, {title(stage)}, as {stage.refused}."
    return said


def ids(asked: Asked) -> str:
    """The pieces of the text, each with its number in the vocabulary."""
    pieces = [*zip(asked.trace.source.pieces, asked.passed.ids, strict=True)]
    more = f" and {len(pieces) - MOST} more" if len(pieces) > MOST else ""
    return f"The pieces and their ids: {', '.join(f'{piece} {one}' for piece, one in pieces[:MOST])}{more}."


def this_stage(choice: Choice, asked: Asked, stage: Stage) -> None:
    """What the chosen stage computes, and the lines of PyTorch that do it."""
    away = stage.refused or f"largest difference between numpy and the model {stage.away:.1e} of {stage.size:.3g}"
    weights = f" Weights: {', '.join(stage.weights)}." if stage.weights else ""
    said = f"{place(stage, asked.base, asked.two)}, {title(stage)}: {away}.{weights}"
    say(said[0].upper() + said[1:], role="status")
    reads = ", ".join(f"v{one}" for one in stage.reads)
    there = replace(choice, layer=stage.layer)
    if stage.part == ATTENTION and fits(there):
        st.page_link(
            "../../pages/step_by_step.py",
            label="Its weights, step by step",
            icon=":material/stairs:",
            query_params=to_query(there),
            help="How each weight of this layer's heads comes about",
        )
    st.code("\n".join(([f"# from {reads}"] if reads else []) + list(stage.lines)), language="python", wrap_lines=True)


def draw(choice: Choice, trace: Trace, options: Options) -> None:
    """The pass at the chosen zoom."""
    asked = pass_of(choice, trace, options)
    if asked is None:
        return
    head_and_zoom(asked, options)
    stages = asked.passed.stages
    chosen = stages[min(max(0, options.stage), len(stages) - 1)]
    say(differences(asked), role="status")
    if chosen.part == "embeddings":
        say(ids(asked), role="status")
    if options.zoom == "stack":
        parts = parts_of(stages)
        chosen = next(part for part in parts if part.number >= chosen.number)
        along(asked, chosen, parts)
        overview(asked, parts, chosen, "stack", lambda stage: layer_name(asked, stage))
    else:
        along(asked, chosen, stages)
    if options.zoom == "layer":
        overview(asked, around(stages, chosen), chosen, "layer", short)
    this_stage(choice, asked, chosen)
    if options.zoom == "stage":
        try:
            row, column, spot = numbers(asked, chosen, options)
            number(asked, chosen, spot)
            change(asked, chosen, options, row, column)
        except Refusal as refusal:
            show(refusal)
    save(
        "Save the whole pass as PyTorch",
        asked.passed.program,
        "whole_pass.py",
        "Every line from the ids to the end; run in a notebook it gives the numbers on screen",
        kind="text/x-python",
    )


st.title("The whole pass, from letters to a probability")
chosen_text = current()
compose(chosen_text, kind_of(chosen_text))
own_options = own(Options)
found = read(chosen_text)
if found is not None:
    draw(chosen_text, found, own_options)
how_to_read()
