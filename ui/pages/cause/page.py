"""The view Cause: the model's answer after heads are ablated, edges masked or words hidden."""

from dataclasses import replace

import streamlit as st

from attention.trace import Trace
from attention.view import View
from i18n import _, gettext_lazy, translate
from inference import UserError
from inference.errors import too_many_tokens
from ui.ablation.controls import chosen_edits, draw_clear_button
from ui.input.composing import compose
from ui.input.controls import bound_widget
from ui.input.unknown_words import require_readable
from ui.pages.cause.curve import curve
from ui.pages.cause.effects import before_after, chance, later_heads, one_at_a_time
from ui.pages.cause.metric import AblationExperiment, AnswerMetric, build_metric, metric_model
from ui.pages.cause.options import CauseOptions, draw_edit_list, pick_clicks, pick_words
from ui.run.notices import show_error, show_notice
from ui.run.page_model import PageModel, kind_of, offer_way_out
from ui.run.services import get_backend
from ui.run.traces import read_trace
from ui.show.sections import reading_help
from ui.state.params import get_params
from ui.state.selection import begin_with, select
from ui.state.session import get_view_state
from ui.state.view_state import ViewState, example_of

MOST_TOKENS = 512
PROMPT = gettext_lazy("Nothing is ablated. Click a head or choose another action.")


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- Ablation zeroes a head's part of the input of W_O "
                "([arXiv:1905.10650](https://arxiv.org/abs/1905.10650)). Any ablation changes "
                "something; compare with other edits of equal size.\n"
                "- Effects do not add up, and differ between texts."
            )
        )


def draw(choice: ViewState, options: CauseOptions, asked: AnswerMetric, trace: Trace) -> None:
    """Draw the edits, their effect, the head map, the random baseline and the ablation curve."""
    if trace.target is not None or not trace.has_qkv():
        show_notice(_passed_over(trace), role="status")
        return
    if len(trace.source) > MOST_TOKENS:
        show_error(too_many_tokens(len(trace.source), MOST_TOKENS))
        return
    view = View(trace, words=True)
    selection = select(choice, view, example_of(choice.text, choice.pair))[0]
    head = (int(selection["layer"]), int(selection["head"]))
    edits = chosen_edits(options, None if choice.layer is None else head)
    case = AblationExperiment(view, asked, edits, head, options)
    try:
        pick_clicks(view, options)
        pick_words(view, options, edits, head)
        before_after(case)
        left, right = st.columns(2)
        with left:
            one_at_a_time(case)
        with right:
            chance(case)
        if not edits:
            show_notice(translate(PROMPT), role="status")
        draw_edit_list(edits, case.places, head)
        if edits:
            later_heads(case)
        curve(case)
    except UserError as refusal:
        show_error(refusal)
        if get_params(CauseOptions).edits:
            draw_clear_button(CauseOptions)
    how_to_read()


def _passed_over(trace: Trace) -> str:
    """Return the reason why this model cannot be edited."""
    name = trace.model.name
    if trace.target is not None:
        return _(
            "{name} reads one text and writes another. Pick an encoder or decoder.",
            name=name,
        )
    return _(
        "{name} computes attention in its own code, so it cannot be edited. Pick BERT or GPT-2.",
        name=name,
    )


def page(choice: ViewState, who: PageModel) -> None:
    """Draw the widget that selects the metric, then the ablation experiment.

    ``who`` is the model that computes the metric. If a saved trace is open, show a notice instead, because the
    experiment has to run a model.
    """
    if choice.opened:
        show_notice(
            _("A saved trace has attention only. Close it to run its text."),
            role="status",
        )
        return
    options = get_params(CauseOptions)
    bound_widget(CauseOptions, "watch", st.segmented_control, required=True)
    try:
        with st.spinner(_("Running the model"), show_time=True):
            asked = build_metric(options, choice, who)
        trace = None if asked is None else _read(choice, asked, who)
    except UserError as refusal:
        offer_way_out(refusal, who, choice)
        return
    if asked is not None and trace is not None:
        draw(choice, get_params(CauseOptions), asked, trace)


def _read(choice: ViewState, asked: AnswerMetric, who: PageModel) -> Trace | None:
    """Return the trace of the text as the metric reads it, or None with a notice.

    Raise UserError if another model or an altered text cannot be read.
    """
    if who.instead or asked.request.text != choice.text:
        return require_readable(get_backend().trace(asked.request), who.head)
    return read_trace(replace(choice, pair=asked.request.pair or ""))


def draw_view() -> None:
    """Draw the view Cause in the page."""
    chosen = begin_with(get_view_state())
    answerer = metric_model(get_params(CauseOptions), chosen)
    compose(chosen, kind_of(chosen), answerer)
    page(chosen, answerer)
