"""Which model reads: a few good ones by name, any hub id, any folder the operator allows."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from i18n import _, gettext_lazy, translate
from inference.catalogue.listing import ModelCard
from inference.files import fine_tuned
from ui.run import fine_tuning
from ui.run.network import hub_in_reach
from ui.run.notices import show_notice
from ui.state.session import get_view_state
from ui.state.view_state import ViewState

MODEL = gettext_lazy("Model")
KINDS = "kinds_seen"  # what each model turned out to be, in this session


def pick_model(slot: str, model: str, revision: str, keep: Callable[[str, str], None], *, label: str = MODEL) -> None:
    """The select box of a model and its revision, where ``model`` and ``revision`` are on_pick now.

    ``keep`` is called with both when the reader picks others; a newly on_pick model comes with no revision. ``slot`` is
    a name of its own for each picker on a page, so that they share nothing.
    """
    cards = {card.id: card for card in fine_tuning.cards(model)}
    names = list(cards) if model in cards else [*cards, model]
    box, field = f"{slot}_model", f"{slot}_revision"

    def on_pick() -> None:
        name = (st.session_state[box] or "").strip()
        if name and name != model:
            keep(name, "")

    reachable = hub_in_reach()
    st.session_state[box] = model
    st.selectbox(
        translate(label),
        names,
        key=box,
        format_func=lambda name: label_of(cards, name, reachable),
        accept_new_options=True,
        on_change=on_pick,
        help=_(
            "Pick one, or type the id of any model of the Hugging Face hub, such as google-bert/bert-base-cased, "
            "or a folder that this app's operator allows. Weights are read from safetensors or GGUF files only."
        ),
    )
    card = cards.get(model)
    if card is not None:
        # A local model's summary quotes its own files, so it is shown as text.
        show_notice(card.summary, role="status")
    if not fine_tuned.is_taught(model) and (card is None or not (card.embedded or card.local)):
        st.session_state[field] = revision
        st.text_input(
            _("Revision"),
            key=field,
            placeholder="main",
            on_change=lambda: keep(model, st.session_state[field].strip()),
            help=_("A branch, a tag or a commit of the model's repository; empty means main."),
        )


def kind_of(choice: ViewState) -> str:
    """The kind of the chosen model, as far as it is known before it is loaded; what is not known may be an encoder."""
    card = next((card for card in fine_tuning.cards(choice.model) if card.id == choice.model), None)
    return known_kind(choice.model, card) or "encoder"


def known_kind(model: str, card: ModelCard | None) -> str | None:
    """What a model turned out to be in this session, else what its card says; None where nobody knows yet."""
    seen: dict[str, str] = st.session_state.setdefault(KINDS, {})
    return seen.get(model, card.kind if card is not None else None)


def remember_kind(model: str, kind: str) -> None:
    """Remember what a model turned out to be; draw the page again when the text box was made for another kind."""
    seen: dict[str, str] = st.session_state.setdefault(KINDS, {})
    before = kind_of(get_view_state())
    seen[model] = kind
    if model == get_view_state().model and before != kind:
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
        return translate(card.title)
    if not reachable:
        return _("{title} · not here, no network", title=card.title)
    if card.size_bytes is None:
        return translate(card.title)
    return _("{title} · {megabytes:,.0f} MB to fetch", title=card.title, megabytes=card.size_bytes / 1e6)
