"""The view Why attention: cost and path length of attention, compared with other layer types.

Recurrent, convolutional and attention networks can also be trained on small tasks.
"""

import streamlit as st

from attention.trace import Trace
from i18n import _
from inference import UserError
from inference.tasks.anatomy import Anatomy
from ui.input.composing import compose
from ui.pages.why_attention.numbers import controls, figures, summary, table
from ui.pages.why_attention.options import WhyAttentionOptions
from ui.pages.why_attention.recorded_runs import draw_recorded
from ui.pages.why_attention.train_one import train_one
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.services import get_backend
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
                "- A recurrent layer reads one token after another, and a convolution k neighbours together. "
                "Self-attention compares all pairs, so any two tokens are one step apart "
                "([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 4).\n"
                "- Short paths help to learn long-range dependencies. Few sequential operations let a machine work on "
                "all tokens in parallel.\n"
                "- The price is n²: every pair of tokens. The table counts the layers' mixing of tokens only. A real "
                "Transformer layer has matrices besides, which grow with n · d²; the page on the block counts them.\n"
                "- The trained networks are small, and so are their tasks: they show what each way of reading makes "
                "easy, not what large models do."
            )
        )


def draw(choice: ViewState, trace: Trace, options: WhyAttentionOptions) -> None:
    """Draw the summary, the figures and the table of layer types."""
    try:
        with st.spinner(_("Looking up the model's width")):
            model = trace.model.name if choice.opened else choice.model
            build = get_backend().inspect(Anatomy(model=model, revision=choice.revision or None))
    except UserError as refusal:
        show_error(refusal)
        return
    numbers = controls(options, build.width, len(trace.source))
    show_notice(summary(numbers), "status")
    figures(numbers)
    table(numbers)


def draw_view() -> None:
    """Draw the view."""
    chosen = get_view_state()
    compose(chosen, kind_of(chosen))
    options = get_params(WhyAttentionOptions)
    found = read_trace(chosen)
    if found is not None:
        draw(chosen, found, options)
    draw_recorded(options)
    train_one(options)
    how_to_read()
