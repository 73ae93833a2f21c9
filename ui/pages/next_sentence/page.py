"""The view Next sentence: the next-sentence head's prediction, and attention between the two texts."""

import streamlit as st

from i18n import _
from inference import UserError
from inference.task_heads import NEXT_SENTENCE
from ui.input.composing import compose
from ui.pages.next_sentence.cross_text import draw_cross_text
from ui.pages.next_sentence.judgement import judgement, pair_of
from ui.pages.next_sentence.options import NextSentenceOptions
from ui.pages.next_sentence.pairs_table import own_pairs
from ui.run.page_model import offer_way_out, pick_page_model
from ui.show.published_bert import draw_published
from ui.show.reading_help import reading_help
from ui.state.params import get_params
from ui.state.session import get_view_state


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- The model reads one sequence: [CLS] A [SEP] B [SEP]. The task head predicts from the "
                "vector of [CLS].\n- NSP is an easy task: a probability near 1 does not prove coherence "
                "([arXiv:1909.11942](https://arxiv.org/abs/1909.11942), section 3.1). RoBERTa scores no "
                "worse without it ([arXiv:1907.11692](https://arxiv.org/abs/1907.11692)).\n- Attention "
                "between the texts does not show that the prediction depends on it "
                "([arXiv:1902.10186](https://arxiv.org/abs/1902.10186))."
            )
        )


def draw_view() -> None:
    """Draw the view."""
    chosen = get_view_state()
    get_params(NextSentenceOptions)  # reports invalid parameters before the model runs
    answerer = pick_page_model(NEXT_SENTENCE, chosen, NextSentenceOptions)
    compose(chosen, "encoder", answerer)  # an encoder judges two texts, regardless of the chosen model
    try:
        texts = pair_of(chosen)
        judgement(chosen, answerer, texts)
        draw_cross_text(chosen, answerer, texts)
        own_pairs(answerer)
    except UserError as refusal:
        offer_way_out(refusal, answerer, chosen)
    draw_published(answerer)
    how_to_read()
