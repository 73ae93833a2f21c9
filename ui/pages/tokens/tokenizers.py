"""The Tokens page: the tokenizers that can be compared, and what is drawn of their steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import streamlit as st

from inference import Refusal
from inference.questions.tokens import Steps, TokenSteps
from inference.text.accepted import check_text
from ui.input.picking import control
from ui.pages.tokens.headings import COMPARED, TABLE, headings
from ui.pages.tokens.options import Tokens
from ui.pages.tokens.rows import compared, left_out, summary, table, top, way_of
from ui.pages.tokens.walk import first_pick, walk, word_at
from ui.run import teaching
from ui.run.refusals import say
from ui.run.shelf import backend
from ui.show.csv_table import csv_table
from ui.show.draw_table import draw_table
from ui.show.provenance import named
from ui.show.saving import save
from ui.state.choice import Choice
from ui.state.options import choose_own
from viz.components.ladder import ladder
from wording import _, sentence, told

KEY = "tokens_ladder"
MARKS = sentence(
    "Point at a part, or move to it with Tab and the arrow keys: the characters it is made from light up, and every "
    "part made from the same ones. Click one to see how its word is cut. Parts that touch are pieces of one word; "
    "dashes: not in the vocabulary; underlined: taken whole; pale: added by the template."
)
RARE = "Unbelievable embeddings: déjà vu in Reykjavík, 你好 👍🏽"


def others(choice: Choice) -> dict[str, str]:
    """Models on this machine whose tokenizer could stand beside the chosen one's: id and title. Asks no network."""
    cards = [card for card in teaching.cards() if card.downloaded and card.id != choice.model]
    return {card.id: card.title for card in cards}


def first_other(choice: Choice, steps: Steps, found: Iterable[str]) -> str | None:
    """The first model whose tokenizer is another one than that of the steps; None where all are the same."""
    for model in found:
        try:
            beside = ask(choice, model, None)
        except Refusal:
            continue
        if (beside.algorithm, beside.vocabulary) != (steps.algorithm, steps.vocabulary):
            return model
    return None


def pick_beside(choice: Choice, options: Tokens, steps: Steps) -> str | None:
    """The model whose tokenizer stands beside the steps' one; None, and a sentence, where only one is here."""
    found = others(choice)
    if options.beside and options.beside not in found and options.beside != choice.model:
        say(
            _(
                "The link compares with {beside}, which is not on this machine; pick it at the left to fetch it.",
                beside=options.beside,
            ),
            role="status",
        )
    if not found:
        say(
            _(
                "Only one tokenizer is on this machine, so there is none to compare with. Pick another model at the "
                "left: it can be downloaded there. Nothing is fetched unasked."
            ),
            role="status",
        )
        return None
    shown = options.beside if options.beside in found else first_other(choice, steps, found) or next(iter(found))
    control(Tokens, "beside", st.columns(2)[1].selectbox, _("Compare with the tokenizer of"), list(found), shown=shown,
            format_func=found.get, help=_("Models whose files are on this machine"))  # fmt: skip
    return shown


def ask(choice: Choice, model: str, revision: str | None) -> Steps:
    """The steps of the text, and of the second one where the tokenizer reads two; raises Refusal."""
    asked = TokenSteps(model=model, revision=revision, text=choice.text, pair=choice.pair or None)
    try:
        return backend().inspect(asked)
    except Refusal as refusal:
        if refusal.way_out != "pair":
            raise
        return backend().inspect(replace(asked, pair=None))


def keep() -> None:
    """The part that was picked, into the address."""
    picked = ladder.picked(KEY)
    if picked is not None:
        choose_own(Tokens, way=picked[0], side=picked[1], at=picked[2])


def chosen_word(steps: list[Steps], options: Tokens) -> tuple[int, int, int] | None:
    """Which way, text and word: the reader's where it is there, else the word of the most pieces."""
    way, side, at = options.way, options.side, options.at
    if at is not None and way < len(steps) and side < len(steps[way].sides) and at < len(steps[way].sides[side].words):
        return way, side, at
    return next(((way, *first_pick(one)) for way, one in enumerate(steps) if one.sides), None)


def draw(choice: Choice, steps: list[Steps], models: list[tuple[str, str | None]], options: Tokens) -> None:
    """The picture, the cutting of one word, and the tables."""
    texts = [check_text(choice.text), *([check_text(choice.pair, sentence("second text"))] if choice.pair else [])]
    for one in steps:
        say(summary(one, texts), role="status")
        if one.why:
            say(one.why, role="status")
        if len(texts) > 1 and not any(token.side for token in one.tokens):
            say(_("{model} reads one text, not a pair; the second one is left out.", model=one.model), role="status")
    word = chosen_word(steps, options)
    ways = [way_of(one) for one in steps]
    ladder.mount(top(steps, texts), ways, KEY, title=_("The text"), chosen=word, on_pick=keep)
    st.caption(told(MARKS))
    less = left_out(steps)
    if less is not None:
        say(less, role="status")
    if word is not None:
        st.subheader(_("How is this word cut?"), anchor=False)
        way, side, at = word
        span = steps[way].sides[side].words[at].span
        for number, place in enumerate(st.columns(len(steps))):
            model, revision = models[number]
            same = steps[number].sides[side].words[at] if number == way else word_at(steps[number], side, span)
            with place:
                walk(steps[number], same, revision, model)
    draw_table(compared(steps, texts), column_config=headings(COMPARED))
    for number, one in enumerate(steps):
        label = _("Every token of the second tokenizer as a table") if number else _("Every token as a table")
        folded = st.expander(label, key=f"tokens_table_{number}", on_change="rerun")
        if folded.open:
            rows = table(one)
            read = dict(zip(("text", "pair"), texts, strict=False))
            about = named(backend().identity(*models[number])) | read
            page = csv_table(list(rows[0]), [list(row.values()) for row in rows])
            draw_table(place=folded, columns=rows, column_config=headings(TABLE))
            save(_("Save as CSV"), page, "headlight-tokens.csv", _("A row for each token"),
                 key=f"tokens_csv_{number}", place=folded, provenance=about)  # fmt: skip
