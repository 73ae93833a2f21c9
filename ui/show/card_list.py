"""Counter-examples as cards with links: a list, and the board of a class of students.

A counter-example is a sentence in which a head gives the wrong noun more weight from a pronoun.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qsl, urlsplit

import streamlit as st

from classroom.cards import Card, PostedCard
from classroom.errors import NotInClass
from i18n import _
from ui.run.classes import store, visitor_secret
from ui.run.notices import show_notice
from ui.run.redrawing import redraw_every
from ui.show.tables import csv_table, download_button
from ui.show.text import escape_markdown
from ui.show.views import file_of

EVERY = 2.0  # seconds between two updates of the board
NAMES = ("model", "layer", "head", "text", "source", "right", "other", "right_weight", "other_weight", "fooled",
         "reworded", "address")  # fmt: skip


def draw_card_list(cards: Sequence[Card]) -> None:
    """Draw a list of counter-examples (cards) with their links, and a button that downloads the list."""
    for at, card in enumerate(cards):
        _draw_card(card, f"card_{at}")
    download_button(
        _("Save the cards"),
        csv_table(NAMES, [[getattr(card, name) for name in NAMES] for card in cards]),
        "headlight-cards.csv",
        _("All digits"),
    )


def draw_board(code: str) -> None:
    """Draw the board with the cards of a class of students, and add new cards as students send them.

    ``code`` is the code of the class. A card is a counter-example that a student has found.
    """
    st.header(_("The board"))
    redraw_every(EVERY, _draw_posted, code)


def _draw_posted(code: str) -> None:
    who = visitor_secret()
    try:
        posted, teaches = store().cards(code, who), store().teaches(code, who)
        shown = store().is_board_shown(code)
    except NotInClass as refusal:
        show_notice(refusal.sentence)
        return
    if teaches:
        st.toggle(
            _("Show to students"),
            value=shown,
            key="board_shown",
            on_change=lambda: _perform(code, None),
            help=_("Students see all cards, without names."),
        )
    show_notice(_count(len(posted), shown or teaches), role="status")
    for one in reversed(posted):
        _draw_card(one.card, f"board_{one.number}")
        if teaches:
            _draw_removal(code, one)


def _count(many: int, all_shown: bool) -> str:
    if all_shown:
        return _("Cards on the board: {n}.", n=many)
    return _("Your cards on the board: {n}. Your teacher shows the others.", n=many)


def _draw_removal(code: str, one: PostedCard) -> None:
    st.button(
        _("Remove"),
        key=f"board_remove_{one.number}",
        icon=":material/delete:",
        on_click=_perform,
        args=(code, one.number),
        help=_("Deletes it for everybody."),
    )


def _perform(code: str, number: int | None) -> None:
    """Delete a card, or show and hide the board if ``number`` is None."""
    try:
        if number is None:
            store().show_board(code, visitor_secret(), bool(st.session_state["board_shown"]))
        else:
            store().remove_card(code, visitor_secret(), number)
    except NotInClass:
        return  # The board shows the reason.


def _draw_card(card: Card, key: str) -> None:
    with st.container(border=True, key=key):
        st.markdown(f"**{escape_markdown(card.text)}**")
        st.caption(
            _(
                "Head {layer}-{head}: “{source}” gives “{other}” {other_weight} and “{right}” {right_weight}; fooled in"
                " {fooled} of {reworded} rewordings.",
                layer=card.layer,
                head=card.head,
                source=escape_markdown(card.source),
                right=escape_markdown(card.right),
                other=escape_markdown(card.other),
                right_weight=f"{card.right_weight:.0%}",
                other_weight=f"{card.other_weight:.0%}",
                fooled=card.fooled,
                reworded=card.reworded,
            )
        )
        _link(card)


def _link(card: Card) -> None:
    query = dict(parse_qsl(urlsplit(card.address).query, keep_blank_values=True))
    st.page_link(file_of("break_head"), label=_("Open"), query_params=query, icon=":material/open_in_new:",
                 help=_("Restores this view."))  # fmt: skip
