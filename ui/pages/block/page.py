"""The view Block: the model drawn from its modules, its parameters by part, and the cost of attention."""

import streamlit as st

from attention.trace import Trace, attention_everywhere
from i18n import _
from inference import UserError
from inference.tasks.anatomy import Anatomy
from ui.input.composing import compose
from ui.pages.block.cost import costs
from ui.pages.block.drawing import activations, drawing, open_sections, parameters, sentence
from ui.pages.block.kinds import kinds
from ui.pages.block.options import BlockOptions
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
                "- Each of N layers has **attention**, which mixes tokens, and a **feed-forward** part for "
                "each token alone; inputs are added to outputs "
                "([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.1).\n- Norms follow the "
                "addition (post-norm) or precede each part (pre-norm, "
                "[arXiv:2002.04745](https://arxiv.org/abs/2002.04745)). The drawing was traced in a small "
                "pass.\n- Attention compares n² pairs of tokens; everything else grows with n."
            )
        )


def draw(choice: ViewState, trace: Trace, options: BlockOptions) -> None:
    """Draw the summary and the drawing of the model, and the folded sections."""
    model, revision = (trace.model.name if choice.opened else choice.model), choice.revision or None
    try:
        if (lacking := attention_everywhere(trace.layers, trace.attending())) is not None:
            raise UserError(lacking, way_out="embedded")
        with st.spinner(_("Inspecting the model")):
            build = get_backend().inspect(Anatomy(model=model, revision=revision))
    except UserError as refusal:
        show_error(refusal)
        return
    lengths = {"encoder": len(trace.source), "decoder": len(trace.target or trace.source)}
    show_notice(sentence(build), "status")
    # A single tower leaves room for the sections; an encoder with a decoder takes the full width.
    alone = len(build.stacks) == 1
    with st.container(key="stacks"):
        left, right = st.columns([3, 2], gap="medium") if alone else (st.container(), st.container())
    with left:
        drawing(build, lengths, options, trace.model.architecture)
    sections = {
        "parameters": lambda: parameters(build),
        "kinds": lambda: kinds(build),
        "activation": lambda: activations(build),
        "cost": lambda: costs(build, model, revision, lengths[build.stacks[0].part]),
    }
    with right:
        how_to_read()
        for name, place in open_sections(options):
            with place:
                try:
                    sections[name]()
                except UserError as refusal:
                    show_error(refusal)


def draw_view() -> None:
    """Draw the view."""
    chosen = get_view_state()
    compose(chosen, kind_of(chosen))
    options = get_params(BlockOptions)
    found = read_trace(chosen)
    if found is not None:
        draw(chosen, found, options)
