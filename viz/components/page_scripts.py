"""Scripts that run on every page and draw no figure.

They track if the page is idle, rerun it for another theme, draw the button of the projector view, follow changes of a
class of students, and scroll to the top of the next step. ``<html data-rest>`` is "true" if no request, run, download
or drawing is in progress, else "false"; meanwhile the main region is ``aria-busy``. A component that waits for data has
``aria-busy="true"`` in its own markup.
"""

from __future__ import annotations

import streamlit as st

from viz.components.script import script, stylesheet, translated_words


def track_idle() -> None:
    """Start the script that tracks if the page is idle; call it before the page is drawn.

    assets/app.css hides the component.
    """
    _IDLE_TRACKER(key="rest", data={"streamlit": st.__version__})


def watch_theme(language: str = "en") -> None:
    """Rerun the page if its theme changes, because Python draws figures in its colours; set its language.

    ``language`` is a BCP 47 tag, which screen readers use for the pronunciation. assets/app.css hides the component.
    """
    _THEME_CHANGE(key="theme_change", data={"language": language}, on_changed_change=_nothing)


def draw_projector() -> None:
    """Draw the button of the projector view (1.6 times as large, no sidebar); the key P toggles it, too."""
    _PROJECTOR(key="projector", data={"words": translated_words("projector/projector")})


def follow_class(address: str, version: int, moves: bool = False, says: str = "") -> None:
    """Rerun the page when the class of students at ``address`` has another version than ``version``.

    If ``moves`` is True, the run may open another page, so a field in which the visitor types is sent first. The script
    polls the address. Screen readers read ``says``, such as a new question, when it changes. assets/app.css makes the
    component invisible.
    """
    data = {"address": address, "version": version, "moves": moves, "says": says}
    _FOLLOWER(key="follower", data=data, on_changed_change=_nothing)


def open_at_top(place: str, *, focuses: bool = False) -> None:
    """Scroll the page to its top if ``place`` differs from that of the last run; assets/app.css hides the component.

    With ``focuses``, the first heading of the third level, else of the second, then takes the focus, so that a screen
    reader reads it.
    """
    _PAGE_TOP(key="page_top", data={"place": place, "focuses": focuses})


def _nothing() -> None:
    """Accept the callback; the rerun that it causes is the whole effect."""


_IDLE_TRACKER = st.components.v2.component(
    "headlight_rest", html="<span></span>", js=script("idle_tracker/idle_tracker")
)
_THEME_CHANGE = st.components.v2.component(
    "headlight_theme_change", html="<span></span>", js=script("theme_change/theme_change")
)
_PROJECTOR = st.components.v2.component(
    "headlight_projector",
    html='<div id="projector" class="hl"></div>',
    js=script("projector/projector"),
    css=stylesheet("shared/look", "projector/projector"),
)
_FOLLOWER = st.components.v2.component(
    "headlight_follower", html='<p role="status"></p>', js=script("follower/follower")
)
_PAGE_TOP = st.components.v2.component("headlight_page_top", html="<span></span>", js=script("page_top/page_top"))
