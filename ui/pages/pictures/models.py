"""Pictures page: the choice of a vision model, downloaded or from the hub."""

from __future__ import annotations

import streamlit as st

from i18n import _, gettext_lazy, translate
from inference.catalogue.listing import ModelCard
from ui.input.model_chip import label_of
from ui.pages.pictures.options import ASKING, ELSEWHERE, SHOWS, PicturesOptions
from ui.run.downloading import show_command
from ui.run.network import hub_in_reach
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.show.text import escape_markdown, format_and_list
from ui.state.params import get_params, set_params

NO_MODEL = gettext_lazy("No image model is installed. Run this command, then restart the app:")
NEEDS_MODEL = gettext_lazy("“{view}” needs an image model. Run this command, then restart the app:")
OR_DOWNLOAD = gettext_lazy("Or choose a model above to download it.")
WITHOUT_MODEL = gettext_lazy("Without a model, the recorded sample works in: {views}.")


def at_hand() -> dict[str, ModelCard]:
    """Return the vision models that are available without a network, by id.

    Models that were installed as extras come first.
    """
    return {name: card for name, card in _vision_cards().items() if card.downloaded}


def default_model() -> str:
    """Return the first vision model that is available without a network, else the first in the list."""
    return next(iter(at_hand()), next(iter(_vision_cards())))


def _vision_cards() -> dict[str, ModelCard]:
    return {card.id: card for card in get_backend().seeing()}


def pick_vision(options: PicturesOptions, recorded: str | None) -> None:
    """Draw the model selector.

    ``recorded`` is the model of the recorded sample if the sample can be shown without a model.
    """
    cards, here = _vision_cards(), at_hand()
    names = [*([""] if recorded else []), *cards]
    shown = options.vision if options.vision or recorded else default_model()
    reachable = hub_in_reach()

    def label(name: str) -> str:
        if not name:
            return _("{model} (recorded)", model=recorded)
        return label_of(cards, name, reachable)

    st.session_state["vision_model"] = shown
    st.selectbox(
        _("Image model"),
        names if shown in names else [*names, shown],
        key="vision_model",
        format_func=label,
        accept_new_options=True,
        on_change=lambda: _set_model((st.session_state["vision_model"] or "").strip()),
        help=_("Any ViT, DeiT, BEiT, DINOv2, DINOv3, I-JEPA, SigLIP or CLIP id of the Hugging Face hub"),
    )
    if shown in cards:
        st.caption(escape_markdown(translate(cards[shown].summary)))
    if options.vision and options.vision not in here:
        st.session_state["vision_revision"] = options.revision
        st.text_input(
            _("Revision"),
            key="vision_revision",
            placeholder="main",
            on_change=lambda: set_params(PicturesOptions, revision=st.session_state["vision_revision"].strip()),
            help=_("A branch, a tag or a commit; empty means main."),
        )


def pick_other(options: PicturesOptions, model: str) -> str:
    """Draw the selector of the second model and return its id; "" if there is none.

    The default is the next model that is available without a network, else the first other model in the list.
    """
    cards, reachable = _vision_cards(), hub_in_reach()
    others = [name for name in cards if name != model]
    shown = options.other_vision or next((name for name in at_hand() if name != model), others[0] if others else "")
    st.session_state["other_vision_model"] = shown or None
    st.selectbox(
        _("Other model"),
        others if shown in others or not shown else [*others, shown],
        key="other_vision_model",
        format_func=lambda name: label_of(cards, name, reachable),
        accept_new_options=True,
        on_change=lambda: set_params(
            PicturesOptions, other_vision=(st.session_state["other_vision_model"] or "").strip()
        ),
        help=_("Runs on the same image; its layers, heads and patches may differ"),
    )
    return shown


def _set_model(name: str) -> None:
    set_params(PicturesOptions, vision=name, revision="", **ELSEWHERE)


def say_installing(reason: str) -> None:
    """Show ``reason`` and the command that installs a model, and mention the download if the hub responds."""
    show_notice(reason, role="status")
    show_command()
    if hub_in_reach():
        show_notice(OR_DOWNLOAD, role="status")


def say_needs_model(recorded: str) -> None:
    """Explain how to get a model for the current view; show ``recorded`` if a model is available."""
    view = get_params(PicturesOptions).show
    if at_hand():
        show_notice(recorded, role="status")
        return
    say_installing(_(NEEDS_MODEL, view=translate(SHOWS[view])))
    show_notice(
        _(WITHOUT_MODEL, views=format_and_list([translate(SHOWS[name]) for name in SHOWS if name not in ASKING])),
        role="status",
    )
