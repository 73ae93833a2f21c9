"""The view Measure: every head scored on sentences with annotated relations."""

import streamlit as st

from i18n import _
from ui.pages.measure.corpus_scores import load_scores
from ui.pages.measure.data import pick_data
from ui.pages.measure.head_examples import draw_examples, selected_head
from ui.pages.measure.heads import overview
from ui.pages.measure.maps import files, left_out, maps
from ui.pages.measure.options import MeasureOptions
from ui.show.reading_help import reading_help
from ui.state.params import get_params
from ui.state.session import get_view_state


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- For each marked word, a head's answer is the word it looks at most: attention to a word is the sum "
                "over its pieces, from it the mean; special tokens and the word itself are left out "
                "([arXiv:1906.04341](https://arxiv.org/abs/1906.04341)). Read the other way, the answer is the word "
                "that looks at it most. A pronoun's candidates compete by their largest weight.\n"
                "- A figure alone says little: a word's neighbour is often right, and the best of many heads is good "
                "somewhere by luck. So each stands beside a rule without a model (such as always the word "
                "before; between candidates: the best of nearest and first), random weights, and its interval, on "
                "sentences that the head was not chosen on. “More” is said if a two-sided paired test on the same "
                "links, taken sentence by sentence "
                "([arXiv:cs/0008005](https://arxiv.org/abs/cs/0008005)) and corrected for everything tested beside it "
                "([Holm](https://doi.org/10.2307/4615733)), leaves luck at most 5 chances in 100.\n"
                "- A head that finds a relation reads where it stands; whether the model uses that is another "
                "question, for the page Cause ([arXiv:1902.10186](https://arxiv.org/abs/1902.10186))."
            )
        )


def draw_view() -> None:
    """Draw the view."""
    chosen, options = get_view_state(), get_params(MeasureOptions)
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
                files(found, best.relation)
    how_to_read()
