"""The view Vectors: word vectors of each layer, sentence vectors, and their cosine similarity."""

import streamlit as st

from attention.trace import Trace
from i18n import _
from inference import UserError
from ui.input.composing import compose
from ui.input.controls import bound_widget
from ui.pages.vectors.contexts import contexts
from ui.pages.vectors.options import VectorsOptions
from ui.pages.vectors.sentences import sentences
from ui.pages.vectors.words import draw_words
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
                "- A model holds a **vector**, a long list of numbers, for each token, and every layer rewrites it: "
                "after the first layers it is still much of the word, later what the word is in this text ([BERT, "
                "arXiv:1810.04805](https://arxiv.org/abs/1810.04805); "
                "[arXiv:1909.00512](https://arxiv.org/abs/1909.00512)).\n"
                "- The **cosine** says how far two vectors point the same way, from -1 to 1. In most models any two "
                "vectors point somewhat the same way, so a cosine means something beside others of the same layer "
                "only.\n"
                "- **PCA** keeps the directions in which the vectors differ most, **UMAP** "
                "([arXiv:1802.03426](https://arxiv.org/abs/1802.03426)) who is near whom. For sentences, the mean "
                "over the tokens serves best in models trained for it "
                "([arXiv:1908.10084](https://arxiv.org/abs/1908.10084))."
            )
        )


def draw(choice: ViewState, trace: Trace) -> None:
    """Draw the chosen view."""
    if choice.opened:
        show_notice(
            _(
                "A saved trace holds no vectors between the layers; close the file in View options to read its text "
                "anew."
            ),
            role="status",
        )
        return
    options = get_params(VectorsOptions)
    bound_widget(VectorsOptions, "show", st.segmented_control, required=True)
    try:
        if options.show == "contexts":
            contexts(choice, options)
        elif options.show == "sentences":
            sentences(choice, options, trace.layers + 1)
        else:
            draw_words(choice, trace, options)
    except UserError as refusal:
        show_error(refusal)


def draw_view() -> None:
    """Draw the view."""
    chosen = get_view_state()
    compose(chosen, kind_of(chosen))
    found = read_trace(chosen)
    if found is not None:
        draw(chosen, found)
        how_to_read()
