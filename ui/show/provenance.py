"""Where the numbers of a page come from, as the first lines of the files that it saves."""

from __future__ import annotations

import streamlit as st

from ui.run.shelf import backend, shelf
from ui.show.csv_table import MARK, below, csv_table
from ui.state.session import PAGE, current

ANSWERED_BY = "answered_by"  # (page, model, revision): which model answers there, where it may be another


def answers(model: str, revision: str | None) -> None:
    """This model answers on this page, whichever is chosen in the sidebar."""
    st.session_state[ANSWERED_BY] = (st.session_state.get(PAGE), model, revision)


def provenance() -> dict[str, str]:
    """Model, revision or hash of its weights, and text of what is on the page."""
    choice = current()
    trace = shelf().find(choice.opened) if choice.opened else None
    if trace is not None:
        made, texts = trace.model, (trace.text, trace.pair or "", trace.target_text or "")
    else:
        page, model, revision = st.session_state.get(ANSWERED_BY, (None, "", None))
        if page != st.session_state.get(PAGE):
            model, revision = choice.model, choice.revision or None
        made = backend().identity(model, revision)
        texts = (choice.text, choice.pair, choice.target)
    named = {"model": made.name, "revision": made.revision or "", "weights_sha256": made.weights or ""}
    told = {**named, **dict(zip(("text", "pair", "target"), texts, strict=True))}
    return {name: value for name, value in told.items() if value}


def captioned(table: str) -> str:
    """A CSV file with where it comes from before its table, a name and a value a line, then an empty line."""
    (first, *rest) = provenance().items()
    caption = csv_table(first, rest)
    return below(caption if table.startswith(MARK) else caption.removeprefix(MARK), table)
