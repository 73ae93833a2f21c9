"""The provenance of a page's numbers, for the files that it saves."""

from __future__ import annotations

import streamlit as st

from attention.trace import ModelId
from ui.run.services import get_backend, get_trace_store
from ui.state.session import PAGE, get_view_state

ANSWERED_BY = "answered_by"  # (page, model, revision): which model answers there, where it may be another


def set_answering_model(model: str, revision: str | None) -> None:
    """This model answers on this page, whichever is chosen in the sidebar."""
    st.session_state[ANSWERED_BY] = (st.session_state.get(PAGE), model, revision)


def page_provenance() -> dict[str, str]:
    """Return the model of the page, its revision or the hash of its weights, and the texts on the page."""
    made, texts = _reading()
    return model_fields(made) | {
        name: text for name, text in zip(("text", "pair", "target"), texts, strict=True) if text
    }


def model_provenance() -> dict[str, str]:
    """Return the model of the page alone, for numbers that do not depend on its text."""
    return model_fields(_reading()[0])


def _reading() -> tuple[ModelId, tuple[str, str, str]]:
    """Return the model that answers on the page, and the text, the second text and the target."""
    choice = get_view_state()
    trace = get_trace_store().find(choice.opened) if choice.opened else None
    if trace is not None:
        return trace.model, (trace.text, trace.pair or "", trace.target_text or "")
    page, model, revision = st.session_state.get(ANSWERED_BY, (None, "", None))
    if page != st.session_state.get(PAGE):
        model, revision = choice.model, choice.revision or None
    return get_backend().identity(model, revision), (choice.text, choice.pair, choice.target)


def model_fields(made: ModelId) -> dict[str, str]:
    """What tells a model from every other.

    >>> model_fields(ModelId("tiny", "main", "encoder", "TinyModel"))
    {'model': 'tiny', 'revision': 'main'}
    """
    told = {"model": made.name, "revision": made.revision or "", "weights_sha256": made.weights or ""}
    return {name: value for name, value in told.items() if value}


def add_header(text: str) -> str:
    """A plain text under the model that it comes from, an empty line between them."""
    return "".join(f"{name}: {value}\n" for name, value in model_provenance().items()) + f"\n{text}"
