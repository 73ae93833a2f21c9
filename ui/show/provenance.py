"""The provenance of a page's numbers, for the files that it saves."""

from __future__ import annotations

import streamlit as st

from attention.trace import ModelId
from ui.run.shelf import backend, shelf
from ui.state.session import PAGE, current

ANSWERED_BY = "answered_by"  # (page, model, revision): which model answers there, where it may be another


def answers(model: str, revision: str | None) -> None:
    """This model answers on this page, whichever is chosen in the sidebar."""
    st.session_state[ANSWERED_BY] = (st.session_state.get(PAGE), model, revision)


def page_provenance() -> dict[str, str]:
    """Return the model of the page, its revision or the hash of its weights, and the texts on the page."""
    made, texts = _reading()
    return named(made) | {name: text for name, text in zip(("text", "pair", "target"), texts, strict=True) if text}


def model_provenance() -> dict[str, str]:
    """Return the model of the page alone, for numbers that do not depend on its text."""
    return named(_reading()[0])


def _reading() -> tuple[ModelId, tuple[str, str, str]]:
    """Return the model that answers on the page, and the text, the second text and the target."""
    choice = current()
    trace = shelf().find(choice.opened) if choice.opened else None
    if trace is not None:
        return trace.model, (trace.text, trace.pair or "", trace.target_text or "")
    page, model, revision = st.session_state.get(ANSWERED_BY, (None, "", None))
    if page != st.session_state.get(PAGE):
        model, revision = choice.model, choice.revision or None
    return backend().identity(model, revision), (choice.text, choice.pair, choice.target)


def named(made: ModelId) -> dict[str, str]:
    """What tells a model from every other.

    >>> named(ModelId("tiny", "main", "encoder", "TinyModel"))
    {'model': 'tiny', 'revision': 'main'}
    """
    told = {"model": made.name, "revision": made.revision or "", "weights_sha256": made.weights or ""}
    return {name: value for name, value in told.items() if value}


def headed(text: str) -> str:
    """A plain text under the model that it comes from, an empty line between them."""
    return "".join(f"{name}: {value}\n" for name, value in model_provenance().items()) + f"\n{text}"
