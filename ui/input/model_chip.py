"""The model's button next to the sentence, with a popover to select the model."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from i18n import _, gettext_lazy, translate
from inference.catalogue.listing import ModelCard
from inference.files import sources
from ui.input.controls import bound_widget
from ui.run import fine_tuning
from ui.run.network import hub_in_reach
from ui.run.notices import show_notice
from ui.run.page_model import PageModel
from ui.state.session import change_model
from ui.state.view_state import DEFAULT_MODEL, ViewState

CHIP = "model_chip"  # Key of the chip's container.


def draw_model_chip(choice: ViewState, answering: PageModel | None = None) -> None:
    """Draw a button with the name of the model that answers; its popover selects a model for all pages.

    ``answering`` is the model of the page if the page needs a task head or a kind of model.
    """
    cards = {card.id: card for card in fine_tuning.cards(choice.model)}
    name = cards[choice.model].title if choice.model in cards else choice.model
    if answering is not None and answering.instead:
        name = answering.title
    with (
        st.container(key=CHIP, width="content"),
        st.popover(_("Model: {name}", name=translate(name)), help=_("Used here and on other pages.")),
    ):
        pick_model("pick", choice.model, choice.revision, change_model)
        if answering is not None and answering.instead:
            _draw_substitute(choice, answering)


def is_named_on_page(choice: ViewState, answering: PageModel | None) -> bool:
    """Return True if the page itself gives the reason for a substitute: the visitor has chosen the replaced model."""
    return answering is not None and answering.instead and not choice.opened and choice.model != DEFAULT_MODEL


def _draw_substitute(choice: ViewState, answering: PageModel) -> None:
    """Draw the reason for a substitute, unless it is on the page, other substitutes, and the button that selects it."""
    if not is_named_on_page(choice, answering):
        show_notice(answering.reason, role="status")
    there = {card.id: card for card in answering.substitutes}
    if len(there) > 1 and answering.options is not None:
        bound_widget(
            answering.options,
            "answering_model",
            st.selectbox,
            options=list(there),
            shown=answering.model,
            format_func=lambda name: there[name].title,
        )
    st.button(
        _("Use everywhere"),
        key="use_answerer",
        on_click=change_model,
        args=(answering.model,),
        kwargs={"target": choice.target},
        help=_("Selects the answering model."),
    )


MODEL = gettext_lazy("Model")


def pick_model(slot: str, model: str, revision: str, keep: Callable[[str, str], None], *, label: str = MODEL) -> None:
    """Draw the widgets that select a model and its revision, a commit or branch on the hub.

    ``model`` and ``revision`` are the present selection. ``keep`` is called with the new model and revision; a new
    model has the revision "". ``slot`` is a prefix that makes the widget keys unique.
    """
    cards = {card.id: card for card in fine_tuning.cards(model)}
    names = list(cards) if model in cards else [*cards, model]
    box, field = f"{slot}_model", f"{slot}_revision"

    def on_pick() -> None:
        name = listed_model(cards, (st.session_state[box] or "").strip())
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
        help=_("A model, a Hugging Face id or an allowed folder; safetensors or GGUF."),
    )
    card = cards.get(model)
    if card is not None:
        # A local model's summary quotes its files; a notice escapes them.
        show_notice(card.summary, role="status")
    if not sources.is_taught(model) and (card is None or not (card.embedded or card.local)):
        st.session_state[field] = revision
        st.text_input(
            _("Revision"),
            key=field,
            placeholder="main",
            on_change=lambda: keep(model, st.session_state[field].strip()),
            help=_("Branch, tag or commit; empty means main."),
        )


def listed_model(cards: dict[str, ModelCard], typed: str) -> str:
    """Return the listed model that a typed name means: the only one whose id or title contains it, else ``typed``.

    ``cards`` are the listed models by name.

    >>> names = ("all-MiniLM-L6-v2", "gpt2", "distilgpt2")
    >>> cards = {name: ModelCard(name, name, "encoder", "", "", None, "") for name in names}
    >>> [listed_model(cards, typed) for typed in ("minilm", "gpt2", "gpt", "owner/own")]
    ['all-MiniLM-L6-v2', 'gpt2', 'gpt', 'owner/own']
    """
    part = typed.casefold()
    found = [
        name for name, card in cards.items() if part in name.casefold() or part in translate(card.title).casefold()
    ]
    return typed if typed in cards or not part or len(found) != 1 else found[0]


def label_of(cards: dict[str, ModelCard], name: str, reachable: bool) -> str:
    """Return a model's label in the list of models, with its download size or a note if it is unavailable.

    ``cards`` are the known models by name. ``reachable`` is False if the server cannot download models.

    >>> card = ModelCard("b", "B", "encoder", "", "", 40_000_000, "")
    >>> label_of({"b": card}, "b", True), label_of({"b": card}, "b", False), label_of({}, "my/own", False)
    ('B (40 MB to download)', 'B · not here, no network', 'my/own')
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
    return _("{model} ({megabytes:,.0f} MB to download)", model=card.title, megabytes=card.size_bytes / 1e6)
