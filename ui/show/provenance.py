"""Where the numbers of a page come from, as the first lines of the files that it saves."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from attention.trace import ModelId
from ui.run.shelf import backend, shelf
from ui.show.csv_table import MARK, below, csv_table
from ui.state.session import PAGE, current

ANSWERED_BY = "answered_by"  # (page, model, revision): which model answers there, where it may be another


def answers(model: str, revision: str | None) -> None:
    """This model answers on this page, whichever is chosen in the sidebar."""
    st.session_state[ANSWERED_BY] = (st.session_state.get(PAGE), model, revision)


def provenance(texts: bool = True) -> dict[str, str]:
    """Model, revision or hash of its weights, and text of what is on the page; without ``texts`` the model alone."""
    choice = current()
    trace = shelf().find(choice.opened) if choice.opened else None
    if trace is not None:
        made, read = trace.model, (trace.text, trace.pair or "", trace.target_text or "")
    else:
        page, model, revision = st.session_state.get(ANSWERED_BY, (None, "", None))
        if page != st.session_state.get(PAGE):
            model, revision = choice.model, choice.revision or None
        made = backend().identity(model, revision)
        read = (choice.text, choice.pair, choice.target)
    told = named(made) | (dict(zip(("text", "pair", "target"), read, strict=True)) if texts else {})
    return {name: value for name, value in told.items() if value}


def named(made: ModelId) -> dict[str, str]:
    """What tells a model from every other.

    >>> named(ModelId("tiny", "main", "encoder", "TinyModel"))
    {'model': 'tiny', 'revision': 'main'}
    """
    told = {"model": made.name, "revision": made.revision or "", "weights_sha256": made.weights or ""}
    return {name: value for name, value in told.items() if value}


def captioned(table: str, told: Mapping[str, str] | None = None) -> str:
    """A CSV file with where it comes from before its table, a name and a value a line, then an empty line.

    ``told`` is what is said there, by default all that is known of the page.
    """
    (first, *rest) = (provenance() if told is None else told).items()
    caption = csv_table(first, rest)
    return below(caption if table.startswith(MARK) else caption.removeprefix(MARK), table)


def headed(text: str) -> str:
    """A plain text under the model that it comes from, an empty line between them."""
    return "".join(f"{name}: {value}\n" for name, value in provenance(texts=False).items()) + f"\n{text}"
