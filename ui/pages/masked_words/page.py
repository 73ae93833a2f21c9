"""The view Masked words: predictions for blanks, their attribution, surprisal, and the training objective."""

from functools import partial

import streamlit as st

from i18n import _
from inference import UserError
from inference.task_heads import MASKED
from inference.tasks.predictions import SurprisalRequest
from ui.input.composing import compose
from ui.input.controls import bound_widget
from ui.input.unknown_words import refuse_unreadable
from ui.pages.masked_words.explanations import draw_blank_attention, draw_importance
from ui.pages.masked_words.guesses import blank_provenance, guesses, two_sentences
from ui.pages.masked_words.options import MaskedWordsOptions, pick_blank, request_of, text_strip, texts_of
from ui.pages.masked_words.whole_text import draw_corruption, draw_surprisal
from ui.run.page_model import PageModel, ask_model, offer_way_out, pick_page_model
from ui.show.lens import layers
from ui.show.published_bert import draw_published
from ui.show.sections import reading_help
from ui.state.params import get_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- BERT learned to fill blanks: a task head gives each vocabulary token a probability "
                "([arXiv:1810.04805](https://arxiv.org/abs/1810.04805)). Blanks are predicted "
                "independently.\n"
                "- Neither attention, layers nor attribution explains a prediction by itself "
                "([arXiv:1902.10186](https://arxiv.org/abs/1902.10186)); it may also be false "
                "([arXiv:1907.13528](https://arxiv.org/abs/1907.13528))."
            )
        )


def draw(choice: ViewState, who: PageModel) -> None:
    """Draw the text with its blanks, then the chosen figure."""
    options = get_params(MaskedWordsOptions)
    text, pair = texts_of(choice)
    read = ask_model(
        SurprisalRequest(model=who.model, revision=who.revision, text=text, pair=pair, cut=choice.cut, stop=0),
        _("Reading the text"),
    )
    row = read.row
    refuse_unreadable(row, who.model, "encoder", MASKED)
    request = request_of(choice, options, who, read.mask)
    try:
        filled = ask_model(request, _("Running the model"))
    except UserError as refusal:
        text_strip(row, request, None, options)
        offer_way_out(refusal, who, choice)
        filled = None
    else:
        text_strip(row, request, filled, options)
    bound_widget(MaskedWordsOptions, "show", st.segmented_control, required=True)
    if options.show == "two":
        two_sentences(who)
    elif options.show == "surprise":
        draw_surprisal(request, row)
    elif options.show == "lesson":
        draw_corruption(request)
    elif filled is not None:
        at = pick_blank(filled)
        if options.show == "looks":
            draw_blank_attention(choice, who, request, filled, at)
        elif options.show == "layers":
            layers(request, filled, at, partial(blank_provenance, filled, at))
        elif options.show == "words":
            draw_importance(request, filled, at)
        else:
            guesses(who, request, filled, at)


def draw_view() -> None:
    """Draw the view Masked words in the page."""
    chosen = get_view_state()
    get_params(MaskedWordsOptions)  # reports invalid parameters before the model runs
    answerer = pick_page_model(MASKED, chosen, MaskedWordsOptions)
    compose(chosen, "encoder", answerer)  # an encoder answers regardless of the chosen model, and reads pairs
    try:
        draw(chosen, answerer)
    except UserError as refusal:
        offer_way_out(refusal, answerer, chosen)
    draw_published(answerer)
    how_to_read()
