"""Notices and errors on a page: a sentence, and a button for the remedy.

The text that the visitor has typed stays in the text box.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from i18n import _, translate
from inference import UserError
from inference.task_heads import CLASSES
from ui.run.counters import REFUSALS
from ui.show.views import link_to_view
from ui.state.session import FRESH, NEW_MODEL, get_view_state, set_view_state, unshown_notes
from ui.state.view_state import DEFAULT_MODEL


def show_notice(sentence: str, role: str = "alert") -> None:
    """Show a message on the page; it is escaped, because it may quote the visitor's input. Paragraphs become lines."""
    kind = "refusal" if role == "alert" else "note"
    text = escape(translate(sentence)).replace("\n\n", "<br>\n")
    st.html(f'<p class="headlight-{kind}" role="{role}" dir="auto">{text}</p>')


def show_notes() -> None:
    """Show the notes about the address (ui/state/session.py) that this run has not shown yet."""
    for sentence in unshown_notes():
        show_notice(sentence, role="status")


def show_error(refusal: UserError) -> None:
    """Show the message of an error, and a button or a link for its remedy, if any.

    The lack of a task head is shown as a status, not as an alert. The remedy "text" (change the text) has no button,
    because the text box is on the page.
    """
    REFUSALS.labels(refusal.way_out or "none").inc()
    show_notice(refusal.message, role="status" if refusal.way_out == "head" else "alert")
    limit = refusal.details.get("limit")
    if refusal.way_out == "cut" and isinstance(limit, int):
        st.button(
            _("Cut to {limit} tokens", limit=limit),
            on_click=set_view_state,
            kwargs={"cut": limit},
            help=_("Read the beginning only"),
        )
    elif refusal.way_out == "revision":
        revision = str(refusal.details["revision"])
        st.button(
            _("Use revision {revision}", revision=revision),
            on_click=set_view_state,
            kwargs={**FRESH, "revision": revision},
        )
    elif refusal.way_out == "pair":
        st.button(_("Drop second text"), on_click=set_view_state, kwargs={**FRESH, "pair": ""})
    elif refusal.way_out == "reads" and "model" in refusal.details:
        st.button(
            _("Run with {model}", model=refusal.details["title"]),
            on_click=set_view_state,
            kwargs={**NEW_MODEL, "model": refusal.details["model"], "revision": "", **refusal.details.get("texts", {})},
            help=translate(refusal.details["summary"]),
        )
    elif refusal.way_out in ("retry", "busy"):
        st.button(_("Try again"))
    elif refusal.way_out == "download":  # Pages that can download a model draw the offer instead.
        link_to_view("explore", _("Download the model"), help=_("Attention heads offers it."))
    elif refusal.way_out == "head" and refusal.details.get("head") in CLASSES:
        link_to_view("teach", _("Fine-tune"), help=_("Adds this head to a model"))
    if refusal.way_out in ("embedded", "retry") and get_view_state().model != DEFAULT_MODEL:
        changes = {**NEW_MODEL, "model": DEFAULT_MODEL, "revision": ""}
        st.button(
            _("Use {model}", model=DEFAULT_MODEL),
            on_click=set_view_state,
            kwargs=changes,
            help=_("It works without a network"),
        )
