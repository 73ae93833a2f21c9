"""Does B follow A? What a head says that was trained for it, and who looks across from one text to the other."""

import streamlit as st

from inference import Refusal
from inference.heads import NEXT_SENTENCE
from ui.input.composing import compose
from ui.pages.next_sentence.judgement import judgement, pair_of
from ui.pages.next_sentence.looking_across import looking_across
from ui.pages.next_sentence.options import Options
from ui.pages.next_sentence.pairs_table import own_pairs
from ui.run.answering import pick_answerer, refused
from ui.show.published_bert import published
from ui.show.reading_help import reading_help
from ui.state.options import own
from ui.state.session import current
from wording import _


def how_to_read() -> None:
    """Three lines for a first-time reader."""
    with reading_help():
        st.markdown(
            _(
                "- Two texts are read as one: [CLS] A [SEP] B [SEP]. A head on the state of [CLS] says whether B was "
                "the text after A ([arXiv:1810.04805](https://arxiv.org/abs/1810.04805)).\n"
                "- It is easily content with a common topic, and it was trained on texts of its own kind: a "
                "probability near one is no proof of sense ([arXiv:1909.11942](https://arxiv.org/abs/1909.11942), "
                "section 3.1).\n"
                "- The maps show where the heads look across. That a head looks does not say that the judgement rests "
                "on it ([arXiv:1902.10186](https://arxiv.org/abs/1902.10186))."
            )
        )


st.title(_("Does B follow A?"))
chosen = current()
compose(chosen, "encoder")  # whatever is chosen: two texts are judged
own(Options)  # what of it cannot be read is said before anything is asked
answerer = pick_answerer(NEXT_SENTENCE, chosen, Options)
try:
    texts = pair_of(chosen)
    judgement(chosen, answerer, texts)
    looking_across(chosen, answerer, texts)
    own_pairs(answerer)
except Refusal as refusal:
    refused(refusal, answerer, chosen)
published(answerer, chosen.count)
how_to_read()
