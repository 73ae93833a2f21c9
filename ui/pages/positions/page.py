"""The view Positions: tests of word order, and the position encodings of the model."""

import streamlit as st

from attention.trace import Trace
from i18n import _
from inference import UserError
from inference.tasks.positions import PositionsRequest
from ui.input.composing import compose
from ui.pages.positions.distances import scores
from ui.pages.positions.encodings import shifting, vectors
from ui.pages.positions.order import order_test
from ui.pages.positions.position_scheme import PositionsOptions, draw_position_scheme, pick_view
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.services import get_backend
from ui.run.traces import read_trace
from ui.show.sections import reading_help
from ui.state.params import get_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- Attention ignores order: permuted tokens give the permuted map. So positions are "
                "added as vectors ([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.5; "
                "learned in BERT, [arXiv:1810.04805](https://arxiv.org/abs/1810.04805)). Other models "
                "change the scores: by rotation ([rotary, arXiv:2104.09864](https://arxiv.org/abs/2104.09864)), a "
                "penalty ([ALiBi, arXiv:2108.12409](https://arxiv.org/abs/2108.12409)) or learned "
                "biases ([T5, arXiv:1910.10683](https://arxiv.org/abs/1910.10683)).\n"
                "- A causal mask reveals order too "
                "([arXiv:2203.16634](https://arxiv.org/abs/2203.16634))."
            )
        )


def draw(choice: ViewState, trace: Trace, options: PositionsOptions) -> None:
    """Draw the summary of the model's position encodings, then the chosen figure."""
    question = PositionsRequest(model=choice.model, revision=choice.revision or None)
    try:
        with st.spinner(_("Inspecting the model")):
            held = get_backend().inspect(question)
    except UserError as refusal:
        show_error(refusal)
        return
    pick_view()
    if options.show == "test":
        order_test(choice, trace, held, options)
    elif options.show == "vectors":
        vectors(held, question, options)
    elif options.show == "shift":
        shifting(options)
    else:
        scores(choice, trace, held, question, options)
    if options.show != "test":
        show_notice(draw_position_scheme(held), role="status")


def draw_view() -> None:
    """Draw the view Positions in the page."""
    chosen = get_view_state()
    compose(chosen, kind_of(chosen))
    picked = get_params(PositionsOptions)
    found = read_trace(chosen)
    if found is not None:
        draw(chosen, found, picked)
        how_to_read()
