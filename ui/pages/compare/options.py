"""Options of the view Compare, and widgets for the second reading: another text, another model, or ablated heads."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from attention.edits import Ablate, EditSet, drop_token_edits
from attention.view import View
from i18n import _, gettext_lazy
from ui.ablation.controls import chosen_edits, draw_panel
from ui.input.controls import bound_widget
from ui.input.model_chip import pick_model
from ui.input.second_text import settle_second_text
from ui.run import fine_tuning
from ui.state.params import AnsweringOptions, set_params
from ui.state.view_state import ViewState
from viz.options import option

DIFFERS = {
    "text": gettext_lazy("Another text"),
    "model": gettext_lazy("Another model"),
    "edit": gettext_lazy("Ablated heads"),
}
SHOWS = {
    "pair": gettext_lazy("Two runs"),
    "set": gettext_lazy("Set of pairs"),
}
BRINGS = {"ready": gettext_lazy("Ready pairs"), "file": gettext_lazy("Your file")}
HEADS = {"same": gettext_lazy("Same head"), "best": gettext_lazy("Most similar head")}


@dataclass(frozen=True)
class CompareOptions(AnsweringOptions):
    """Options of the view Compare; the first of the two readings comes from the view state that all pages share."""

    show: str = option(
        "pair",
        label=gettext_lazy("Compare"),
        choices=SHOWS,
    )
    # Source of the set of pairs.
    bring: str = option(
        "ready",
        label=gettext_lazy("Pairs"),
        help=gettext_lazy("Pairs of texts that differ in meaning, and reworded controls"),
        choices=BRINGS,
    )
    shared: bool = option(
        False,
        label=gettext_lazy("Skip replaced words"),
        help=gettext_lazy("Compare only words that both texts have."),
    )
    leaf: int = 1  # page of the list of pairs, from 1
    # Difference of the second reading; "" is a text if one fits the first.
    differs: str = option(
        "",
        label=gettext_lazy("Compare with"),
        choices=DIFFERS,
    )
    other: str = ""  # the second text; "" is the ready counterpart of the first, if any
    beside: str = ""  # the second model; "" is the first downloaded model that fits
    beside_revision: str = ""
    # How heads of the two models are paired.
    heads: str = option(
        "same",
        label=gettext_lazy("Matched head"),
        help=gettext_lazy("Equal numbers suit only related models."),
        choices=HEADS,
    )
    # Packed edits of the second reading; "" ablates the first head of the first layer.
    edits: str = option("", of_text=drop_token_edits)


def settle_difference(choice: ViewState, options: CompareOptions) -> CompareOptions:
    """Return the options with defaults for the second reading.

    By default the readings differ by their text. If a link has edits and no second text, they differ by ablated heads.
    """
    other = settle_second_text(CompareOptions, choice, options.other)
    return replace(options, differs=options.differs or ("edit" if options.edits and not other else "text"), other=other)


def pick_source() -> None:
    """Draw the widget that selects the texts to compare: two readings, or a set of text pairs."""
    bound_widget(CompareOptions, "show", st.segmented_control, required=True)


def pick_difference(differs: str) -> None:
    """Draw the widget that selects how the two readings differ: by the text, the model or ablated heads."""
    bound_widget(CompareOptions, "differs", st.segmented_control, shown=differs, required=True)


def pick_second_model(choice: ViewState, options: CompareOptions) -> tuple[str, str]:
    """Draw the widget that selects the second model; return its name and revision."""
    model = options.beside or _first_other(choice)
    pick_model(
        "compare",
        model,
        options.beside_revision,
        lambda name, revision: set_params(CompareOptions, beside=name, beside_revision=revision),
        label=_("The second model"),
    )
    return model, options.beside_revision


def pick_words() -> bool:
    """Draw the toggle that ignores words which differ between both texts; return True if it is on."""
    picked: bool = bound_widget(CompareOptions, "shared", st.toggle)
    return picked


def pick_heads(same: bool) -> bool:
    """Draw the widget that selects how heads are paired; return True for "by similarity", and False for "by number".

    If ``same`` is False, the models have different numbers of layers or heads. Heads are then paired by similarity, and
    the widget is disabled.
    """
    picked: str = bound_widget(
        CompareOptions,
        "heads",
        st.segmented_control,
        required=True,
        disabled=not same,
        **{} if same else {"shown": "best"},
    )
    return picked == "best"


def _first_other(choice: ViewState) -> str:
    """Return another downloaded model, of the same kind if possible; the model itself if there is none."""
    cards = {card.id: card for card in fine_tuning.cards(choice.model)}
    kind = cards[choice.model].kind if choice.model in cards else "encoder"
    others = [card for card in cards.values() if card.downloaded and card.id != choice.model]
    return next((card.id for card in others if card.kind == kind), others[0].id if others else choice.model)


def pick_edits(options: CompareOptions, view: View) -> EditSet:
    """Draw the list of ablated heads, and return all edits of the second reading.

    If none are chosen, the first head of the first layer with attention is ablated, because it can affect all later
    layers.
    """
    edits = chosen_edits(options, (view.attending[0], 0), _part(view))
    offered = [Ablate(layer, head, _part(view)) for layer in view.attending for head in range(view.heads)]
    draw_panel(CompareOptions, edits, offered=offered)
    return edits


def _part(view: View) -> str:
    """Return the stack that an edit names; "" in a model with a single stack."""
    return (view.part or view.trace.part) if len(view.trace.parts) > 1 else ""
