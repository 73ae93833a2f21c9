"""The view Whole pass: every stage of a forward pass, recomputed, with each number traced to weights."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attention.trace import Trace
from i18n import _, translate
from inference import UserError
from inference.tasks.whole_pass import ATTENTION, CROSS, EMBEDDINGS, PROBABILITIES, Stage
from ui.input.composing import compose
from ui.input.controls import bound_widget
from ui.pages.whole_pass import numbers
from ui.pages.whole_pass.change import change, preset
from ui.pages.whole_pass.inspector import PassInspector, WholePassOptions, inspect_pass
from ui.pages.whole_pass.names import place, title
from ui.pages.whole_pass.numbers import number
from ui.pages.whole_pass.picture import (
    draw_layer,
    draw_stack,
    draw_stage_steps,
    head_and_zoom,
    parts_of,
    stages_of_layer,
)
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.traces import read_trace
from ui.show.sections import reading_help
from ui.show.tables import download_button
from ui.show.text import format_comma_list, join_sentences
from ui.show.views import link_to_view
from ui.state.params import get_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState, fits, to_query

MOST = 60  # largest number of tokens in the sentence about ids


def differences(asked: PassInspector) -> str:
    """Describe the largest rounding error of the recomputed pass, and the stages without a formula.

    NumPy recomputes the pass from the token ids and the weights; float32 has about seven digits.
    """
    passed = asked.result
    worst = passed.largest
    said = _(
        "numpy recomputed {stages} stages from {ids} ids and the weights. Largest difference from "
        "the model: {away:.1e} of {size:.3g} ({place}, {stage}).",
        stages=len(passed.stages),
        ids=len(passed.ids),
        away=worst.away,
        size=worst.size,
        place=place(worst, asked.two),
        stage=title(worst),
    )
    refused = (
        _(
            "No formula for {place}, {stage}: {reason}.",
            place=place(stage, asked.two),
            stage=title(stage),
            reason=translate(stage.refused),
        )
        for stage in passed.unsupported_stages
    )
    return join_sentences(said, *refused)


def ids(asked: PassInspector) -> str:
    """Return a sentence with the tokens and their vocabulary ids, at most MOST of them."""
    pieces = [*zip(asked.trace.source.pieces, asked.result.ids, strict=True)]
    named = format_comma_list([f"{piece} {one}" for piece, one in pieces[:MOST]])
    return _("Tokens and ids: {pieces}.", pieces=named + (" …" if len(pieces) > MOST else ""))


def step_by_step(choice: ViewState, asked: PassInspector, stage: Stage, row: int | None) -> ViewState | None:
    """Return the view state for the page Step by step of an attention stage; None for other stages.

    The view state has the layer and stack of ``stage``, and token ``row`` as its focus.
    """
    if stage.part not in (ATTENTION, CROSS):
        return None
    part = ("cross" if stage.part == CROSS else stage.side) if asked.two else ""
    head = 0 if choice.head is None else choice.head  # a link with a layer needs a head as well
    return replace(choice, layer=stage.layer, head=head, part=part, focus=row)


def this_stage(choice: ViewState, asked: PassInspector, stage: Stage, options: WholePassOptions) -> None:
    """Draw the details of the chosen stage: its rounding error, weights, PyTorch code, and a link to Step by step."""
    if stage.refused:
        away = translate(stage.refused)
    else:
        away = _("numpy differs from the model by at most {away:.1e} of {size:.3g}", away=stage.away, size=stage.size)
    where = {"place": place(stage, asked.two), "stage": title(stage)}
    said = join_sentences(
        _("{place}, {stage}: {away}.", away=away, **where),
        _("Weights: {weights}.", weights=", ".join(stage.weights)) if stage.weights else "",
    )
    show_notice(said[0].upper() + said[1:], role="status")
    there = step_by_step(choice, asked, stage, options.row)
    if there is not None and fits(there):
        link_to_view(
            "step_by_step",
            _("Step by step"),
            icon=":material/stairs:",
            query=to_query(there),
            help=_("How attention weights are computed here"),
        )
    _lines(asked, stage, options)


def up_to(program: str, stage: Stage) -> str:
    """Return the PyTorch code ``program`` up to ``stage``, with a line that prints the stage's result."""
    lines = program.splitlines(keepends=True)
    last = next(at for at, line in enumerate(lines) if line.startswith(f"v{stage.number} = "))
    return "".join([*lines[: last + 1], f"print(v{stage.number})\n"])


def _lines(asked: PassInspector, stage: Stage, options: WholePassOptions) -> None:
    """Draw the PyTorch code of ``stage``, or on request all code from the ids to ``stage``."""
    bound_widget(WholePassOptions, "whole", st.toggle)
    reads = ", ".join(f"v{one}" for one in stage.reads)
    few = "\n".join(([f"# from {reads}"] if reads else []) + list(stage.lines))
    code = up_to(asked.result.program, stage) if options.whole else few
    st.code(code, language="python", wrap_lines=True, height=420 if options.whole else "content")
    download_button(
        _("Save as PyTorch"),
        asked.result.program,
        "whole_pass.py",
        _("Program from ids to output that reproduces these numbers"),
        kind="text/x-python",
    )


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- A **stage** is one function of the forward pass, in order of computation; functions that only move "
                "numbers are left out."
            )
        )


def chosen_of(asked: PassInspector, options: WholePassOptions) -> Stage:
    """Return the chosen stage; the default is the last if the pass ends in probabilities, else the first."""
    stages = asked.result.stages
    usual = len(stages) - 1 if stages[-1].part == PROBABILITIES else 0
    return stages[min(usual if options.stage is None else options.stage, len(stages) - 1)]


def stack(asked: PassInspector, chosen: Stage, options: WholePassOptions, choice: ViewState) -> Stage:
    """Draw all stages of the pass and its output; return the stage that the picture marks.

    It is ``chosen``, or the next stage that the picture contains.
    """
    parts = parts_of(asked.result.stages)
    marked = next(part for part in parts if part.number >= chosen.number)
    at, likely = numbers.likely_end(asked, options)
    numbers.draw_end(asked, choice, at, likely)
    draw_stack(asked, parts, marked)
    draw_stage_steps(asked, marked, parts)
    preset(asked)
    numbers.picture(asked, at, likely)
    return marked


def stage(asked: PassInspector, chosen: Stage, options: WholePassOptions) -> None:
    """Draw the numbers of a stage, the terms of the selected number, and widgets that change numbers."""
    draw_stage_steps(asked, chosen, asked.result.stages)
    try:
        found = numbers.find(asked, chosen, options)
        change(asked, chosen, options, found)
        numbers.draw(asked, chosen, found)
        number(asked, chosen, found)
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
    """Draw the view Whole pass in the page."""
    chosen_text = get_view_state()
    compose(chosen_text, kind_of(chosen_text))
    own_options = get_params(WholePassOptions)
    found = read_trace(chosen_text)
    if found is not None:
        draw(chosen_text, found, own_options)
    how_to_read()
