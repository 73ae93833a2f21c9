"""The view Question answering: the answer in a passage, and the words and heads on which it depends."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _
from inference import UserError
from inference.task_heads import ANSWER
from inference.tasks.answers import PassageAnswers
from probing.labelled.ready_sets import QUESTIONS
from ui.input.composing import compose
from ui.pages.answers.dependence import draw_attention, draw_dependence, pick_answer, read_answer
from ui.pages.answers.options import AnswersOptions
from ui.pages.answers.spans import answer_request, draw_answers, draw_baseline, texts_of
from ui.run.notices import show_notice
from ui.run.page_model import PageModel, ask_model, note_lacking, offer_way_out, pick_page_model
from ui.show.sections import reading_help
from ui.show.views import link_to_view
from ui.state.params import get_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- The model reads [CLS] question [SEP] passage [SEP]; each token gets a start and an end logit "
                "([arXiv:1810.04805](https://arxiv.org/abs/1810.04805), section 4.2).\n"
                "- In SQuAD 2.0, [CLS] means “no answer” ([arXiv:1806.03822](https://arxiv.org/abs/1806.03822)).\n"
                "- Long passages are read in overlapping windows.\n"
                "- A high probability does not prove understanding: added sentences mislead such models "
                "([arXiv:1707.07328](https://arxiv.org/abs/1707.07328))."
            )
        )


def draw_view() -> None:
    """Draw the view Question answering in the page."""
    chosen = get_view_state()
    get_params(AnswersOptions)  # reports invalid parameters before the model runs
    answerer = pick_page_model(ANSWER, chosen, AnswersOptions)
    compose(chosen, "encoder", answerer)  # a question and a passage, regardless of the chosen model
    top = st.container()
    try:
        _draw(chosen, answerer, texts_of(chosen), top)
    except UserError as refusal:
        offer_way_out(refusal, answerer, chosen)
    how_to_read()


def _draw(choice: ViewState, who: PageModel, texts: tuple[str, str], top: DeltaGenerator) -> None:
    """Draw the answers and the texts' attention.

    If the model has no head for answers, state this in the container ``top`` and draw the attention only.
    """
    found = _ask(choice, who, texts)
    if found is None:
        with top:
            _offer_training(who)
        draw_attention(choice, read_answer(who, texts, None, None))
        draw_baseline(texts)
        return
    draw_answers(who, texts, found)
    asked = read_answer(who, texts, found, pick_answer(found))
    draw_dependence(choice, asked)
    draw_attention(choice, asked)


def _ask(choice: ViewState, who: PageModel, texts: tuple[str, str]) -> PassageAnswers | None:
    """Return the model's answers; None if it has no head for them."""
    try:
        return ask_model(answer_request(who, texts), _("Running the model"))
    except UserError as refusal:
        if refusal.way_out != "head":
            raise
        note_lacking(ANSWER, choice)
        return None


def _offer_training(who: PageModel) -> None:
    """Draw a notice that the model cannot answer, and a link to the training of a model that can."""
    with st.container(horizontal=True, vertical_alignment="center"):
        show_notice(
            _(
                "{model} cannot answer questions. Choose “DistilBERT, SQuAD” (261 MB to download), or train a model:",
                model=who.title,
            ),
            "status",
        )
        link_to_view(
            "teach",
            _("Fine-tune"),
            icon=":material/school:",
            query={"data": QUESTIONS.id},
            help=_("Adds this head to a model"),
        )
