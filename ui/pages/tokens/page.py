"""The view Tokens: every step of one or two tokenizers from the text to the model's input."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _, gettext_lazy, translate
from inference import UserError
from inference.tasks.tokenizer_steps import Steps, TokenSteps
from inference.text.encoding import check_text
from ui.input.composing import compose
from ui.input.controls import bound_widget, control_row
from ui.pages.tokens.rows import (
    COMPARED,
    TABLE,
    comparison_rows,
    headings,
    left_out,
    summary,
    table,
    tokenizer_steps_of,
    top,
)
from ui.pages.tokens.walk import first_pick, walk, word_at
from ui.run import fine_tuning
from ui.run.downloading import offer_or_show
from ui.run.notices import show_notes, show_notice
from ui.run.page_model import kind_of, remember_kind
from ui.run.services import get_backend
from ui.show.chart import draw_notebook_menu
from ui.show.sections import open_section, reading_help
from ui.show.tables import csv_table, download_button, draw_table, model_fields, page_provenance
from ui.state.params import drop_place, get_params, set_params
from ui.state.session import FRESH, get_view_state, set_view_state
from ui.state.view_state import ViewState
from viz.components.tokenizer_steps import tokenizer_steps
from viz.options import option
from viz.paper.notebook import Computation


@dataclass(frozen=True)
class TokensOptions:
    """Options of the Tokens page; None and "" select automatic choices.

    ``way``, ``side`` and ``at`` are the indices of the tokenizer, the text and the word that the reader selected.
    """

    # The model of the second tokenizer.
    beside: str = option(
        "",
        label=gettext_lazy("Compare tokenizers"),
        help=gettext_lazy("Models on this machine"),
    )
    way: int = option(0, of_text=drop_place)  # Index of the tokenizer in which the word was selected.
    side: int = option(0, of_text=drop_place)  # Index of the text.
    at: int | None = option(None, of_text=drop_place)  # Index of the word in that text.


KEY = "tokens_ladder"
IDS = "numbers = [token.id for request in requests for token in backend.inspect(request).tokens]"
MARKS = gettext_lazy(
    "Click a token to see how its word is split. "
    "Touching: one word; dashed: not in the vocabulary; underlined: not split; pale: from the "
    "template."
)
RARE = "Unbelievable embeddings: déjà vu in Reykjavík, 你好 👍🏽"


def other_tokenizers(choice: ViewState) -> dict[str, str]:
    """Return id and title of the downloaded models other than the chosen model, without network access."""
    cards = [card for card in fine_tuning.cards() if card.downloaded and card.id != choice.model]
    return {card.id: card.title for card in cards}


def first_other(choice: ViewState, steps: Steps, found: Iterable[str]) -> str | None:
    """Return the first model in ``found`` whose tokenizer differs from that of ``steps``, else None.

    Tokenizers are compared by algorithm and vocabulary size.
    """
    for model in found:
        try:
            _request, beside = load_steps(choice, model, None)
        except UserError:
            continue
        if (beside.algorithm, beside.vocabulary) != (steps.algorithm, steps.vocabulary):
            return model
    return None


def pick_second_tokenizer(choice: ViewState, options: TokensOptions, steps: Steps, row: DeltaGenerator) -> str | None:
    """Draw in ``row`` the widget that selects the second tokenizer, and return its model.

    Show a notice and return None if no other model is downloaded.
    """
    found = other_tokenizers(choice)
    if options.beside and options.beside not in found and options.beside != choice.model:
        show_notice(
            _(
                "{beside}, compared in the link, is not on this machine. Choose it under Model.",
                beside=options.beside,
            ),
            role="status",
        )
    if not found:
        show_notice(
            _("Only one tokenizer is on this machine. Choose another model above."),
            role="status",
        )
        return None
    shown = options.beside if options.beside in found else first_other(choice, steps, found) or next(iter(found))
    bound_widget(
        TokensOptions, "beside", row.selectbox, options=list(found), shown=shown, format_func=found.get, width=480
    )
    return shown


def load_steps(choice: ViewState, model: str, revision: str | None) -> tuple[TokenSteps, Steps]:
    """Return the request for the tokenizer's steps and its answer, for the text or for both texts of a pair.

    If the tokenizer does not support pairs, only the first text is tokenized. Raise UserError if the text cannot be
    tokenized.
    """
    asked = TokenSteps(model=model, revision=revision, text=choice.text, pair=choice.pair or None)
    try:
        return asked, get_backend().inspect(asked)
    except UserError as refusal:
        if refusal.way_out != "pair":
            raise
        asked = replace(asked, pair=None)
        return asked, get_backend().inspect(asked)


def on_pick() -> None:
    """Store the token or word that was clicked in the page's options."""
    picked = tokenizer_steps.picked_part(KEY)
    if picked is not None:
        set_params(TokensOptions, way=picked[0], side=picked[1], at=picked[2])


def chosen_word(steps: list[Steps], options: TokensOptions) -> tuple[int, int, int] | None:
    """Return the selected word as indices (tokenizer, text, word), else the word with the most tokens.

    Return None if no tokenizer reports its words.
    """
    way, side, at = options.way, options.side, options.at
    if at is not None and way < len(steps) and side < len(steps[way].sides) and at < len(steps[way].sides[side].words):
        return way, side, at
    return next(((way, *first_pick(one)) for way, one in enumerate(steps) if one.sides), None)


def draw(choice: ViewState, steps: list[Steps], requests: list[TokenSteps], options: TokensOptions) -> None:
    """Draw the summary, the figure, the steps of the selected word and the tables.

    ``requests`` are the requests whose answers are ``steps``, one for each tokenizer.
    """
    texts = [check_text(choice.text), *([check_text(choice.pair, gettext_lazy("second text"))] if choice.pair else [])]
    for number, one in enumerate(steps):
        if number == 0:
            show_notice(summary(one, texts), role="status")
        if one.why:
            show_notice(one.why, role="status")
        if len(texts) > 1 and not any(token.side for token in one.tokens):
            show_notice(_("{model} reads one text; the second is left out.", model=one.model), role="status")
    word = chosen_word(steps, options)
    ways = [tokenizer_steps_of(one) for one in steps]
    tokenizer_steps.mount(top(steps, texts), ways, KEY, title=_("Text"), chosen=word, on_pick=on_pick)
    ids = [token.id for one in steps for token in one.tokens]
    computation = partial(Computation, IDS, requests=requests)
    draw_notebook_menu(_("Tokens"), KEY, lambda: ids, page_provenance, computation)
    for one in steps[1:]:
        show_notice(summary(one, texts), role="status")
    st.caption(translate(MARKS))
    less = left_out(steps)
    if less is not None:
        show_notice(less, role="status")
    if word is not None:
        st.header(_("How is this word cut?"), anchor=False)
        way, side, at = word
        span = steps[way].sides[side].words[at].span
        for number, place in enumerate(st.columns(len(steps))):
            same = steps[number].sides[side].words[at] if number == way else word_at(steps[number], side, span)
            with place:
                walk(steps[number], same, requests[number].revision, requests[number].model)
    draw_table(comparison_rows(steps, texts), column_config=headings(COMPARED))
    for number, one in enumerate(steps):
        label = _("Every token: {model}", model=one.model)
        section = open_section(label, f"tokens_table_{number}")
        if section is not None:
            rows = table(one)
            read = dict(zip(("text", "pair"), texts, strict=False))
            about = model_fields(get_backend().identity(requests[number].model, requests[number].revision)) | read
            page = csv_table(list(rows[0]), [list(row.values()) for row in rows])
            draw_table(place=section, columns=rows, column_config=headings(TABLE))
            download_button(_("Save as CSV"), page, "headlight-tokens.csv", _("All digits"),
                 key=f"tokens_csv_{number}", place=section, provenance=about)  # fmt: skip


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- A vocabulary is a fixed list of words and parts of words: WordPiece "
                "([arXiv:1609.08144](https://arxiv.org/abs/1609.08144)), BPE "
                "([arXiv:1508.07909](https://arxiv.org/abs/1508.07909)) or Unigram "
                "([arXiv:1804.10959](https://arxiv.org/abs/1804.10959)). It is learned from counts, not "
                "grammar: rare words are split.\n"
                "- Special tokens mark begin and end, segments the text of a token, the attention mask padding "
                "([arXiv:1810.04805](https://arxiv.org/abs/1810.04805))."
            )
        )


def steps_of(choice: ViewState, row: DeltaGenerator) -> None:
    """Draw the steps of the chosen model's tokenizer, and of a second one if the visitor selects it.

    The widget that selects the second tokenizer is drawn in ``row``.
    """
    revision = choice.revision or None
    with st.spinner(_("Reading the text")):
        found = [load_steps(choice, choice.model, revision)]
    first = found[0][1]
    remember_kind(choice.model, first.kind)
    options = get_params(TokensOptions)
    beside = pick_second_tokenizer(choice, options, first, row)
    if beside is not None:
        try:
            found.append(load_steps(choice, beside, None))
        except UserError as refusal:
            show_notice(refusal.message)
    draw(choice, [steps for _request, steps in found], [request for request, _steps in found], options)


def draw_view() -> None:
    """Draw the view Tokens in the page."""
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
            help=_("Words of several tokens, accents, rare signs"),
        )
    try:
        steps_of(chosen, row)
        how_to_read()
    except UserError as refusal:
        offer_or_show(refusal, chosen)
