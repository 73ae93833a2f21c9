"""A page with its views: its title and tabs, and links from a view to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from i18n import _, translate
from ui.run.services import get_backend
from ui.show.tables import answering_model
from ui.state.navigation import BY_VIEW, view_fields
from ui.state.session import current_view, get_view_state, open_view

TABS_KEY = "view_tabs"
PICTURES = "pictures"  # The view whose models and heads are not those of the view state.


def draw_page(views: Mapping[str, Callable[[], None]]) -> None:
    """Draw a page: its title, its tabs, and the current view, by calling its function in ``views``."""
    view = current_view()
    page = BY_VIEW[view]
    st.title(translate(page.title))
    if len(page.views) > 1:
        _draw_tabs(view, page.views)
    views[view]()


def _draw_tabs(view: str, titles: Mapping[str, str]) -> None:
    """Draw the tabs of a page with ``view`` selected."""
    st.session_state[TABS_KEY] = view
    st.segmented_control(
        _("View"),
        list(titles),
        key=TABS_KEY,
        format_func=lambda name: translate(titles[name]),
        label_visibility="collapsed",
        required=True,
        on_change=lambda: open_view(st.session_state[TABS_KEY]),
    )


def link_to_view(view: str, label: str, *, query: Mapping[str, Any] | None = None, **options: Any) -> None:
    """Draw a link to a view; ``options`` are passed to `st.page_link`, such as icon and help."""
    st.page_link(file_of(view), label=label, query_params={**(query or {}), **view_fields(view)}, **options)


def go_to_view(view: str, query: Mapping[str, Any]) -> None:
    """Open a view with the given query parameters; this ends the script run."""
    st.switch_page(file_of(view), query_params={**query, **view_fields(view)})


def file_of(view: str) -> str:
    """Return the path of the script of a view's page, relative to the main script.

    >>> file_of("find")
    '../../pages/attention_heads.py'
    """
    return f"../../pages/{BY_VIEW[view].file}.py"


def browser_title() -> str:
    """Return the title of the browser's tab: the page, the selected head, and the model that answers.

    For PICTURES it is the page alone.
    """
    choice, parts = get_view_state(), [translate(BY_VIEW[current_view()].title)]
    if current_view() != PICTURES:
        model = answering_model()[0]
        if choice.layer is not None and choice.head is not None and model == choice.model:
            parts.append(_("head {layer}-{head}", layer=choice.layer, head=choice.head))
        parts.append(translate(next((card.title for card in get_backend().models() if card.id == model), model)))
    return " · ".join([*parts, "Headlight"])
