"""One control for one of a page's own options: it shows what is chosen; what is chosen in it goes into the address."""

from __future__ import annotations

from typing import Any

import streamlit as st

from i18n import translate
from ui.state.params import get_params, set_params


def bound_widget(kind: type[Any], name: str, widget: Any, label: str, *given: Any, **more: Any) -> Any:
    """Draw ``widget``, a method of st or of a column, for the field ``name`` of the options ``kind``.

    ``format_func`` may give sentences, which are told here. ``shown`` replaces the option's value where the page
    settled on another one. Returns what the widget returns.
    """
    key = f"{kind.__name__.lower()}_{name}"
    st.session_state[key] = more.pop("shown", getattr(get_params(kind), name))

    def keep() -> None:
        set_params(kind, **{name: st.session_state[key]})

    if (name_of := more.get("format_func")) is not None:
        more["format_func"] = lambda value: translate(name_of(value))
    return widget(label, *given, key=key, on_change=keep, **more)
