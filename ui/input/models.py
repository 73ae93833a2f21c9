"""Which model reads: a few good ones by name, any hub id, any folder the operator allows."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from inference.catalogue.listing import ModelCard
from inference.files import taught
from ui.run import teaching
from ui.run.network import hub_in_reach
from ui.run.refusals import say
from ui.state.choice import Choice
from ui.state.session import current
from wording import _, sentence, told

MODEL = sentence("Model")
KINDS = "kinds_seen"  # what each model turned out to be, in this session


def pick_model(slot: str, model: str, revision: str, keep: Callable[[str, str], None], *, label: str = MODEL) -> None:
    """The select box of a model and its revision, where ``model`` and ``revision`` are picked now.

    ``keep`` is called with both when the reader picks others; a newly picked model comes with no revision. ``slot`` is
    a name of its own for each picker on a page, so that they share nothing.
    """
    cards = {card.id: card for card in teaching.cards(model)}
    names = list(cards) if model in cards else [*cards, model]
    box, field = f"{slot}_model", f"{slot}_revision"

    def picked() -> None:
        name = (st.session_state[box] or "").strip()
        if name and name != model:
            keep(name, "")

    reachable = hub_in_reach()
    st.session_state[box] = model
    st.selectbox(
        told(label),
        names,
        key=box,
        format_func=lambda name: label_of(cards, name, reachable),
        accept_new_options=True,
        on_change=picked,
        help=_(
            "Pick one, or type the id of any model of the Hugging Face hub, such as google-bert/bert-base-cased, "
            "or a folder that this app's operator allows. Weights are read from safetensors or GGUF files only."
        ),
    )
    card = cards.get(model)
    if card is not None:
        # A local model's summary quotes its own files, so it is shown as text.
        say(card.summary, role="status")
    if not taught.is_taught(model) and (card is None or not (card.embedded or card.local)):
        st.session_state[field] = revision
        st.text_input(
            _("Revision"),
            key=field,
            placeholder="main",
            on_change=lambda: keep(model, st.session_state[field].strip()),
            help=_("A branch, a tag or a commit of the model's repository; empty means main."),
        )


def kind_of(choice: Choice) -> str:
    """The kind of the chosen model, as far as it is known before it is loaded; what is not known may be an encoder."""
    card = next((card for card in teaching.cards(choice.model) if card.id == choice.model), None)
    return seen_kind(choice.model, card) or "encoder"


def seen_kind(model: str, card: ModelCard | None) -> str | None:
    """What a model turned out to be in this session, else what its card says; None where nobody knows yet."""
    seen: dict[str, str] = st.session_state.setdefault(KINDS, {})
    return seen.get(model, card.kind if card is not None else None)


def saw(model: str, kind: str) -> None:
    """Remember what a model turned out to be; draw the page again when the text box was made for another kind."""
    seen: dict[str, str] = st.session_state.setdefault(KINDS, {})
    before = kind_of(current())
    seen[model] = kind
    if model == current().model and before != kind:
        st.rerun()


def label_of(cards: dict[str, ModelCard], name: str, reachable: bool) -> str:
    """A model in the list, with what it costs to have it, or that it cannot be had here now.

    >>> card = ModelCard("b", "B", "encoder", "", "", 40_000_000, "")
    >>> label_of({"b": card}, "b", True), label_of({"b": card}, "b", False), label_of({}, "my/own", False)
    ('B · 40 MB to fetch', 'B · not here, no network', 'my/own')
    """
    card = cards.get(name)
    if card is None:
        return name
    if card.downloaded:
        return told(card.title)
    if not reachable:
        return _("{title} · not here, no network", title=card.title)
    if card.size_bytes is None:
        return told(card.title)
    return _("{title} · {megabytes:,.0f} MB to fetch", title=card.title, megabytes=card.size_bytes / 1e6)
