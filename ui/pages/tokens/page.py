"""The view Tokens: every step of the tokenizer from the text to the model's input."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _
from inference import UserError
from ui.input.composing import compose
from ui.input.controls import control_row
from ui.pages.tokens.options import TokensOptions
from ui.pages.tokens.tokenizers import RARE, draw, load_steps, pick_second_tokenizer
from ui.run.downloading import offer_or_show
from ui.run.notices import show_notes, show_notice
from ui.run.page_model import kind_of, remember_kind
from ui.show.reading_help import reading_help
from ui.state.params import get_params
from ui.state.session import FRESH, get_view_state, set_view_state
from ui.state.view_state import ViewState


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- A vocabulary is a fixed list of words and parts of words, which together write almost any "
                "text: WordPiece ([arXiv:1609.08144](https://arxiv.org/abs/1609.08144)), BPE "
                "([arXiv:1508.07909](https://arxiv.org/abs/1508.07909)) or Unigram "
                "([arXiv:1804.10959](https://arxiv.org/abs/1804.10959)).\n- It is learned from counts, not "
                "from grammar: frequent words stay whole, and rare words are split wherever the vocabulary "
                "has parts.\n- Special tokens mark where a text begins and ends, segments which text a token "
                "belongs to, the attention mask what is padding "
                "([arXiv:1810.04805](https://arxiv.org/abs/1810.04805))."
            )
        )


def steps_of(choice: ViewState, row: DeltaGenerator) -> None:
    """Draw the steps of the chosen model's tokenizer, and those of a second tokenizer if chosen in ``row``."""
    revision = choice.revision or None
    with st.spinner(_("Taking the text through the tokenizer")):
        steps = [load_steps(choice, choice.model, revision)]
    remember_kind(choice.model, steps[0].kind)
    options = get_params(TokensOptions)
    beside = pick_second_tokenizer(choice, options, steps[0], row)
    models = [(choice.model, revision)]
    if beside is not None:
        try:
            steps.append(load_steps(choice, beside, None))
            models.append((beside, None))
        except UserError as refusal:
            show_notice(refusal.message)
    draw(choice, steps, models, options)


def draw_view() -> None:
    """Draw the view."""
    chosen = get_view_state()
    compose(chosen, kind_of(chosen))
    show_notes()
    row = control_row("tokens")
    if chosen.text != RARE:
        rare = {**FRESH, "text": RARE, "pair": ""}
        row.button(
            _("Try rare words"),
            on_click=set_view_state,
            kwargs=rare,
            help=_("Words of several pieces, accents, rare signs"),
        )
    try:
        steps_of(chosen, row)
        how_to_read()
    except UserError as refusal:
        offer_or_show(refusal, chosen)
