"""The view Vectors: word vectors of each layer, sentence vectors, and their cosine similarity."""

import streamlit as st

from attention.trace import Trace
from i18n import _
from inference import UserError
from ui.input.composing import compose
from ui.input.controls import bound_widget
from ui.pages.vectors.options import VectorsOptions
from ui.pages.vectors.sentences import sentences
from ui.pages.vectors.words import contexts, draw_words
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
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
                "- Every layer rewrites each token's **vector**: early layers mostly encode the word, "
                "later ones its meaning here ([BERT](https://arxiv.org/abs/1810.04805); [Ethayarajh "
                "2019](https://arxiv.org/abs/1909.00512)).\n"
                "- **Cosine similarity**: 1 same direction, 0 orthogonal, −1 opposite. Any two vectors "
                "of a layer are somewhat similar: compare within a layer only.\n"
                "- **PCA** keeps variance, **UMAP** "
                "([arXiv:1802.03426](https://arxiv.org/abs/1802.03426)) neighbours. The axes have no "
                "meaning."
            )
        )


def draw(choice: ViewState, trace: Trace) -> None:
    """Draw the chosen view."""
    if choice.opened:
        show_notice(
            _("A saved trace has attention only. Close it to run its text."),
            role="status",
        )
        return
    options = get_params(VectorsOptions)
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    bound_widget(VectorsOptions, "show", left.segmented_control, required=True)
    try:
        if options.show == "contexts":
            contexts(choice, options)
        elif options.show == "sentences":
            sentences(choice, options, trace.layers + 1)
        else:
            draw_words(choice, trace, options, right)
    except UserError as refusal:
        show_error(refusal)


def draw_view() -> None:
    """Draw the view Vectors in the page."""
    chosen = get_view_state()
    compose(chosen, kind_of(chosen))
    found = read_trace(chosen)
    if found is not None:
        draw(chosen, found)
        how_to_read()
