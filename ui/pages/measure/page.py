"""The view Measure: every head scored on sentences with annotated relations."""

import streamlit as st

from i18n import _
from ui.input.model_chip import draw_model_chip
from ui.pages.measure.corpus_scores import load_scores
from ui.pages.measure.data import pick_data
from ui.pages.measure.heads import overview
from ui.pages.measure.maps import draw_examples, files, left_out, maps, selected_head
from ui.pages.measure.options import MeasureOptions
from ui.pages.measure.sources import draw_sources
from ui.show.reading_help import reading_help
from ui.state.params import get_params
from ui.state.session import get_view_state


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- A head's answer is the word that receives most attention, without special tokens and the word "
                "itself ([arXiv:1906.04341](https://arxiv.org/abs/1906.04341)). Attention to a word is the sum "
                "over its tokens, from it the mean.\n"
                "- The baseline is the best rule without a model, such as “the word before”. “More” means p ≤ "
                "0.05 in a two-sided test, paired by sentence "
                "([arXiv:cs/0008005](https://arxiv.org/abs/cs/0008005)) and Holm-corrected "
                "([Holm](https://doi.org/10.2307/4615733)).\n"
                "- A high score does not show that the model uses the head "
                "([arXiv:1902.10186](https://arxiv.org/abs/1902.10186)). Ablation & patching measures that."
            )
        )


def draw_view() -> None:
    """Draw the view."""
    chosen, options = get_view_state(), get_params(MeasureOptions)
    draw_model_chip(chosen)
    data = pick_data(options)
    if data is not None:
        found = load_scores(chosen, options, *data)
        if found is not None:
            left_out(found)
            best = overview(found, options)
            if best is not None:
                head = selected_head(found, best, chosen)
                maps(found, options, best.relation, head)
                draw_examples(found, options, best.relation, head, chosen)
                draw_sources(found, options, best.relation, head, chosen)
                files(found, best.relation)
    how_to_read()
