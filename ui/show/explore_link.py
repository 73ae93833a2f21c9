"""The way from a list to the page Explore."""

from __future__ import annotations

import streamlit as st

from i18n import _, gettext_lazy
from ui.state.view_state import ViewState, fits, to_query

BOTH = gettext_lazy("This sentence and this head")


def explore_link(there: ViewState, what: str = BOTH) -> None:
    """A link to a view of its own; none where its text is too long for an address."""
    if fits(there):
        st.page_link(
            "../../pages/explore.py",
            label=_("Open in Explore"),
            icon=":material/grid_view:",
            query_params=to_query(there),
            help=_("{what} on the Explore page", what=what),
        )
