"""The model that answers on a page: the selected model, or a substitute that has the task head of the page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import streamlit as st

from i18n import _, translate
from inference import UserError
from inference.catalogue.listing import ModelCard
from inference.pictures.image_processing import PICTURES
from inference.task_heads import ANSWER, BARE, CAUSAL, KINDS, MASKED, NEXT_SENTENCE, WHAT, WRITES
from inference.tasks.model_request import PredictRequest
from ui.run import fine_tuning
from ui.run.downloading import offer_or_show, show_command
from ui.run.network import hub_in_reach
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.show.tables import set_answering_model
from ui.show.text import format_and_list
from ui.show.views import link_to_view
from ui.state.navigation import title_of
from ui.state.params import AnsweringOptions, get_params
from ui.state.session import NEW_MODEL, get_view_state, set_view_state
from ui.state.view_state import ViewState

KINDS_SEEN = "kinds_seen"  # Session key of the kinds of models loaded in this session.
LACKING = "models_without_heads"  # Session key of (model, revision, head) for missing heads.
VIEWS = {
    MASKED: "masked_words",
    NEXT_SENTENCE: "next_sentence",
    ANSWER: "answers",
    WRITES: "translate",
    CAUSAL: "generate",
}
EVERY = ("explore", "roles", "cause")  # Some views that need no task head.
ONE_TEXT = ("cause", "agreement")  # Not supported for encoder-decoder models.
TRANSLATING = "encoder-decoder"
Answer = TypeVar("Answer")


def kind_of(choice: ViewState) -> str:
    """Return the kind of the selected model: "encoder", "decoder" or "encoder-decoder".

    If the kind is unknown before the model is loaded, return "encoder".
    """
    card = next((card for card in fine_tuning.cards(choice.model) if card.id == choice.model), None)
    return known_kind(choice.model, card) or "encoder"


def known_kind(model: str, card: ModelCard | None) -> str | None:
    """Return the kind of a model ("encoder", …) if it is known; else None.

    The kind is known if this session has loaded the model, or from the model's card.
    """
    seen: dict[str, str] = st.session_state.setdefault(KINDS_SEEN, {})
    return seen.get(model, card.kind if card is not None else None)


def remember_kind(model: str, kind: str) -> None:
    """Store a model's kind, and rerun the page if its text box was drawn for another kind."""
    seen: dict[str, str] = st.session_state.setdefault(KINDS_SEEN, {})
    before = kind_of(get_view_state())
    seen[model] = kind
    if model == get_view_state().model and before != kind:
        st.rerun()


@dataclass(frozen=True)
class PageModel:
    """The model that a page uses: the selected model, or a substitute if it lacks the page's task head.

    For a substitute ``instead`` is True, and ``reason`` may be a sentence about it. ``substitutes`` are the installed
    models that can be used instead. ``options`` is the class of the page's options, which store the visitor's choice
    among them.
    """

    model: str
    revision: str | None
    title: str
    head: str
    instead: bool  # True for a substitute of the chosen model, which lacks the head.
    reason: str = ""
    substitutes: tuple[ModelCard, ...] = ()
    options: type[AnsweringOptions] | None = None

    def answer_for(self, choice: ViewState) -> ViewState:
        """Return the view state ``choice`` with this model; a substitute replaces the selected model.

        For a substitute, the target text and the selected head are cleared, because they belong to the selected model.
        """
        return replace(choice, **NEW_MODEL, model=self.model, revision="") if self.instead else choice


def pick_page_model(head: str, choice: ViewState, kind: type[AnsweringOptions]) -> PageModel:
    """Return the model for a page that needs the task head ``head``: the selected model if it has the head.

    Otherwise return the installed model with this head that the visitor chose, or the first. ``kind`` is the class of
    the page's options, which store that choice.
    """
    cards = {card.id: card for card in fine_tuning.cards(choice.model)}
    chosen = PageModel(choice.model, choice.revision or None, _title(cards, choice.model), head, False)
    others = [card for card in cards.values() if card.downloaded and head in card.heads and card.id != choice.model]
    if may_have(head, choice, cards) or not others:
        set_answering_model(chosen.model, chosen.revision)
        return chosen
    wanted = get_params(kind).answering_model
    there = {card.id: card for card in others}
    if wanted and wanted not in there:
        show_notice(_("The link's model is not on this machine; another model answers."), "status")
    card = there.get(wanted, others[0])
    return _substitute(chosen, card, _describe_substitute(choice, chosen, card), tuple(others), kind)


def pick_single_text_model(choice: ViewState) -> PageModel:
    """Return the selected model, or for an encoder-decoder the first installed model of another kind."""
    cards = {card.id: card for card in fine_tuning.cards(choice.model)}
    chosen = PageModel(choice.model, choice.revision or None, _title(cards, choice.model), BARE, False)
    others = [card for card in cards.values() if card.downloaded and card.kind != TRANSLATING]
    if choice.opened or kind_of(choice) != TRANSLATING or not others:
        set_answering_model(chosen.model, chosen.revision)
        return chosen
    reason = _(
        "{chosen} translates, so this page uses {answering}.",
        chosen=chosen.title,
        answering=others[0].title,
    )
    return _substitute(chosen, others[0], reason)


def _substitute(
    chosen: PageModel,
    card: ModelCard,
    reason: str,
    others: tuple[ModelCard, ...] = (),
    kind: type[AnsweringOptions] | None = None,
) -> PageModel:
    """Return a substitute of the selected model, and record it for the provenance of downloads."""
    set_answering_model(card.id, None)
    return PageModel(card.id, None, card.title, chosen.head, True, reason, others, kind)


def ask_model(question: PredictRequest[Answer], doing: str) -> Answer:
    """Return the backend's answer to a request, and show a spinner until it arrives; may raise UserError."""
    loaded = (question.model, question.revision, question.needs) in st.session_state.setdefault("asked_models", set())
    if not loaded:
        doing = _("Loading the model")
    with st.spinner(doing, show_time=True):
        found: Answer = get_backend().predict(question)
    st.session_state["asked_models"].add((question.model, question.revision, question.needs))
    return found


def offer_way_out(refusal: UserError, who: PageModel, choice: ViewState) -> None:
    """Show an error of a page's model, and its remedy if there is any: a download or another model."""
    if refusal.way_out == "head":
        _remember_lack(who, choice)
    offer_or_show(refusal, choice)
    if refusal.way_out == "head":
        if refusal.details.get("extra"):
            show_command()
        for name in _on_the_hub(refusal.details["models"])[:2] if hub_in_reach() else ():
            changes = {**NEW_MODEL, "model": name, "revision": ""}
            st.button(
                _("Use {model}", model=name),
                on_click=set_view_state,
                kwargs=changes,
                help=_("It is downloaded first, after you confirm"),
            )
        if not who.instead:
            _pages(choice)


def fitting_views(card: ModelCard | None, kind: str, lacking: Collection[str] = ()) -> list[str]:
    """Return the views that a model supports: those for its task heads, then some that need no task head.

    ``card`` is the card of the model, if there is any, and ``kind`` its kind, such as "encoder". ``lacking`` are task
    heads that an earlier request has shown to be missing.

    >>> fitting_views(None, "encoder-decoder")
    ['translate', 'explore', 'roles']
    """
    known = card.heads if card is not None and (card.heads or not card.local) else ()
    heads = known or tuple(head for head, its in KINDS.items() if its == (kind,) != ("encoder",))
    others = [view for view in EVERY if kind != "encoder-decoder" or view not in ONE_TEXT]
    return [*(VIEWS[head] for head in heads if head in VIEWS and head not in lacking), *others]


def _describe_substitute(choice: ViewState, chosen: PageModel, card: ModelCard) -> str:
    """Return a sentence with the reason for the substitute model."""
    if any(one.id == choice.model and one.reads == PICTURES for one in get_backend().seeing()):
        return _("{chosen} reads pictures, so this page uses {answering}.", chosen=chosen.title, answering=card.title)
    return _(
        "{chosen} has {lacking}, so this page uses {answering}.",
        chosen=chosen.title,
        lacking=WHAT[chosen.head],
        answering=card.title,
    )


def unfit_views(card: ModelCard | None, kind: str, lacking: Collection[str] = ()) -> list[str]:
    """Return the views that the model does not support; the parameters are those of ``fitting_views``.

    >>> unfit_views(None, "encoder-decoder")
    ['masked_words', 'next_sentence', 'answers', 'generate', 'cause', 'agreement']
    """
    fits = fitting_views(card, kind, lacking)
    one_text = ONE_TEXT if kind == "encoder-decoder" else ()
    return [*(view for view in VIEWS.values() if view not in fits), *one_text]


def _describe_unfit(choice: ViewState, cards: Mapping[str, ModelCard]) -> str:
    """Return a list, in words, of the views that the chosen model does not support."""
    return format_and_list([translate(title_of(view)) for view in unfit_views(*_known_card(choice, cards))])


def _known_card(choice: ViewState, cards: Mapping[str, ModelCard]) -> tuple[ModelCard | None, str, set[str]]:
    """Return the chosen model's card, its kind, and the task heads that it is known to lack."""
    known = st.session_state.get(LACKING, set())
    lacking = {head for model, revision, head in known if (model, revision) == (choice.model, choice.revision)}
    return cards.get(choice.model), kind_of(choice), lacking


def _pages(choice: ViewState) -> None:
    """Draw links to pages that the chosen model supports."""
    cards = {card.id: card for card in fine_tuning.cards(choice.model)}
    show_notice(
        _(
            "The chosen model fits all pages but {misfits}, such as:",
            misfits=_describe_unfit(choice, cards),
        ),
        role="status",
    )
    with st.container(horizontal=True):
        for view in fitting_views(*_known_card(choice, cards)):
            link_to_view(view, translate(title_of(view)), help=_("The same text and model"))


def _remember_lack(who: PageModel, choice: ViewState) -> None:
    """Record that the chosen model lacks the head; rerun the page if a substitute is available."""
    others = [card for card in get_backend().models() if card.downloaded and who.head in card.heads]
    if not who.instead and note_lacking(who.head, choice) and others:
        st.rerun()


def note_lacking(head: str, choice: ViewState) -> bool:
    """Record that the selected model lacks the task head ``head``; return True if this is new."""
    lacking: set[tuple[str, str, str]] = st.session_state.setdefault(LACKING, set())
    key = (choice.model, choice.revision, head)
    new = key not in lacking
    lacking.add(key)
    return new


def may_have(head: str, choice: ViewState, cards: Mapping[str, ModelCard]) -> bool:
    """Return True if the selected model has the task head ``head``, or if this is not yet known."""
    if (choice.model, choice.revision, head) in st.session_state.get(LACKING, set()):
        return False
    card = cards.get(choice.model)
    if card is None or (card.local and not card.heads):
        return known_kind(choice.model, card) in (*KINDS[head], None)
    return head in card.heads


def _title(cards: dict[str, ModelCard], name: str) -> str:
    return cards[name].title if name in cards else name


def _on_the_hub(names: Sequence[str]) -> list[str]:
    """Return the names of listed hub models; only these names are trusted for a button."""
    there = {card.id for card in get_backend().models() if not card.local and not card.embedded}
    return [name for name in names if name in there]
