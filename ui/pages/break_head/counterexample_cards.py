"""Cards of sentences that fooled a head, in this session and on the board of a class."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention.counterexamples import LinkTest
from attention.view import View
from classroom.cards import Card
from classroom.errors import NotInClass
from i18n import _
from ui.classroom import shared_address
from ui.pages.break_head.trials import Trial
from ui.run.classes import store, visitor_secret
from ui.run.notices import show_notice
from ui.show.card_list import draw_card_list
from ui.state import classroom
from ui.state.view_state import ViewState

CARDS, PROBLEM = "break_head_cards", "break_head_problem"
MOST_CARDS = 30  # cards of a session


def offer_card(  # noqa: PLR0913  # the parts of a card
    choice: ViewState,
    view: View,
    names: tuple[str, str, str],
    head: tuple[int, int],
    test: LinkTest,
    trials: Sequence[Trial],
) -> None:
    """Draw the button that keeps a sentence as a card, if it fools the head."""
    if problem := st.session_state.pop(PROBLEM, None):
        show_notice(problem)
    if test.outcome != "fooled":
        return
    reworded = [one.test for one in trials if one.kind == "reworded" and one.test is not None]
    source, right, other = names
    card = Card(
        model=choice.model,
        layer=head[0],
        head=head[1],
        text=view.trace.text,
        source=source,
        right=right,
        other=other,
        right_weight=round(test.right, 4),
        other_weight=round(test.other, 4),
        fooled=sum(one.outcome == "fooled" for one in reworded),
        reworded=len(reworded),
        address=shared_address(layer=head[0], head=head[1], source=source, right=right, other=other),
    )
    in_class = classroom.code() is not None
    st.button(
        _("Put on the board") if in_class else _("Keep as card"),
        key="break_head_keep",
        type="primary",
        icon=":material/bookmark_add:",
        on_click=_keep,
        args=(card,),
        help=_("Your class sees the board when the teacher shows it.")
        if in_class
        else _("Cards last until you reload."),
    )


def _keep(card: Card) -> None:
    kept: tuple[Card, ...] = st.session_state.get(CARDS, ())
    if card not in kept:
        st.session_state[CARDS] = (*kept, card)[-MOST_CARDS:]
    code = classroom.code()
    if code is None:
        return
    try:
        store().post_card(code, visitor_secret(), card)
    except NotInClass as refusal:
        st.session_state[PROBLEM] = refusal.sentence


def draw_cards() -> None:
    """Draw the cards of the session; in a class, the board has them."""
    kept: tuple[Card, ...] = st.session_state.get(CARDS, ())
    if kept and classroom.code() is None:
        st.subheader(_("Your cards"))
        draw_card_list(kept[::-1])
