"""The sidebar: language, model, part of the model, view options and saved traces."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from babel import Locale

from attention.trace import Trace
from i18n import _, active_language, available_languages, error_message, gettext_lazy, translate
from inference.catalogue.listing import ModelCard
from inference.files import sources
from inference.text.words import is_chinese
from ui.run import fine_tuning
from ui.run.network import hub_in_reach
from ui.run.notices import show_notice
from ui.run.services import ViewOptions, get_trace_store
from ui.show.views import link_to_view
from ui.state.opened_picture import open_picture, opened_picture
from ui.state.session import FRESH, NEW_MODEL, UNSELECTED, change_language, get_view_state, set_view_state
from ui.state.view_state import ViewState

LANGUAGES_KEY = "picked_language"
LABEL = "Language · 语言"  # Both languages, for visitors who cannot read the page.


def pick_language() -> None:
    """Draw the language selection, with each language in its own name."""
    st.session_state[LANGUAGES_KEY] = active_language()
    st.selectbox(
        LABEL,
        available_languages(),
        key=LANGUAGES_KEY,
        format_func=own_name,
        label_visibility="collapsed",
        on_change=lambda: change_language(st.session_state[LANGUAGES_KEY]),
        help=_("Also by link: `?lang=zh` at the end of the address."),
    )


def own_name(code: str) -> str:
    """Return a language's name in that language.

    >>> own_name("en"), own_name("zh")
    ('English', '中文')
    """
    return str(Locale.parse(code).get_display_name())


MODEL = gettext_lazy("Model")
KINDS = "kinds_seen"  # Session key of the kinds of models loaded in this session.


def pick_model(slot: str, model: str, revision: str, keep: Callable[[str, str], None], *, label: str = MODEL) -> None:
    """Draw the select box of a model and its revision, with ``model`` and ``revision`` selected.

    ``keep`` is called with the new model and revision; a new model has the revision "". ``slot`` is a unique
    prefix for the widget keys of this picker.
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
        # A local model's summary quotes its files; a notice escapes them.
        show_notice(card.summary, role="status")
    if not sources.is_taught(model) and (card is None or not (card.embedded or card.local)):
        st.session_state[field] = revision
        st.text_input(
            _("Revision"),
            key=field,
            placeholder="main",
            on_change=lambda: keep(model, st.session_state[field].strip()),
            help=_("A branch, a tag or a commit of the model's repository; empty means main."),
        )


def kind_of(choice: ViewState) -> str:
    """Return the kind of the chosen model; "encoder" if it is unknown before the model is loaded."""
    card = next((card for card in fine_tuning.cards(choice.model) if card.id == choice.model), None)
    return known_kind(choice.model, card) or "encoder"


def known_kind(model: str, card: ModelCard | None) -> str | None:
    """Return the kind of a model from this session, else from its card; None if both are missing."""
    seen: dict[str, str] = st.session_state.setdefault(KINDS, {})
    return seen.get(model, card.kind if card is not None else None)


def remember_kind(model: str, kind: str) -> None:
    """Store a model's kind, and rerun the page if its text box was drawn for another kind."""
    seen: dict[str, str] = st.session_state.setdefault(KINDS, {})
    before = kind_of(get_view_state())
    seen[model] = kind
    if model == get_view_state().model and before != kind:
        st.rerun()


def label_of(cards: dict[str, ModelCard], name: str, reachable: bool) -> str:
    """Return a model's label in the list, with its download size or a note that it is unavailable.

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


PARTS_KEY = "pick_part"
NAMES: dict[str, str] = {
    "encoder": gettext_lazy("Encoder: source looks at source"),
    "decoder": gettext_lazy("Decoder: target looks back at target"),
    "cross": gettext_lazy("Cross: target looks at source"),
}
HELP = gettext_lazy(
    "A translation model reads the source with its encoder and writes the target with its decoder, which looks back at"
    " what it has written and across at the source."
)


def pick_part(trace: Trace, look: ViewOptions) -> None:
    """Draw the selection of the part (encoder, decoder, cross-attention) if the trace has several.

    Show a notice if the part has no queries, keys and values.
    """
    if len(trace.parts) > 1:
        st.session_state[PARTS_KEY] = look.part or trace.part
        st.radio(
            _("Attention"),
            list(trace.parts),
            key=PARTS_KEY,
            format_func=lambda part: translate(NAMES[part]),
            horizontal=True,
            on_change=lambda: set_view_state(**UNSELECTED, part=st.session_state[PARTS_KEY]),
            help=translate(HELP),
        )
    if not trace.has_qkv(look.part or None):
        show_notice(_describe_missing(trace, look), role="status")


def _describe_missing(trace: Trace, look: ViewOptions) -> str:
    """Return a sentence with the reason for missing queries, keys and values."""
    if trace.is_signed(look.part or None):
        return _(
            "These maps were given: numbers with signs, such as attributions, and no attention weights. They may be "
            "below zero, and a row need not sum to one; there are no queries, keys and values."
        )
    return _(
        "{architecture} computes attention in its own way: its maps are shown as it reports them; "
        "queries, keys and values are not available for it.",
        architecture=trace.model.architecture,
    )


UPLOAD, PROBLEM = "opened_file", "open_problem"

WORDS = gettext_lazy(
    "Pieces of a word are merged: attention to a word is the sum over its pieces, "
    "attention from it the mean over them (arXiv:1906.04341)."
)
CHINESE = gettext_lazy(
    "A Chinese word is what jieba’s dictionary calls one, however many characters it has. Off: what the model’s "
    "tokenizer keeps together, often each character."
)
SPECIAL = gettext_lazy(
    "Show the tokens that the tokenizer adds, such as [CLS] and [SEP]. Much attention often rests on them."
)
RENORMALISE = gettext_lazy(
    "On: with special tokens hidden, each row is scaled to sum to one again, so weights compare among the words. "
    "Off: weights stay the model's own, and a row sums to what was not given to the hidden tokens."
)
RENORMALISED = gettext_lazy("Special tokens are hidden; each row is scaled to sum to one over what is left.")
NOT_RENORMALISED = gettext_lazy("Special tokens are hidden; weights are the model's own, so rows sum to less than one.")


def sidebar(choice: ViewState) -> None:
    """Draw the model selection, the view options and the saved traces."""
    pick_model("pick", choice.model, choice.revision, _read_by)
    _switch(_("Whole words"), "words", choice.words, WORDS)
    if choice.words and is_chinese(choice.text + choice.pair + choice.target):
        _switch(_("Chinese words"), "jieba", choice.jieba, CHINESE)
    _switch(_("Special tokens"), "special", choice.special, SPECIAL)
    _switch(_("Rows sum to one again"), "renormalise", choice.renormalise, RENORMALISE, disabled=choice.special)
    if choice.words:
        st.caption(_("Words: attention to a word is the sum over its pieces, from it the mean over them."))
    if not choice.special:
        st.caption(translate(RENORMALISED if choice.renormalise else NOT_RENORMALISED))
    with st.expander(_("Saved traces")):
        st.file_uploader(
            _("Open a saved trace"),
            type="safetensors",
            key=UPLOAD,
            on_change=_open,
            help=_(
                "A file saved here with “Save the trace”: a text as a model read it, to be looked at again anywhere."
            ),
        )
        for problem in st.session_state.pop(PROBLEM, []):
            show_notice(problem)
        if opened_picture() is not None:
            show_notice(_("The file is of a picture."), role="status")
            link_to_view("pictures", _("Look at it on the page Pictures"), icon=":material/image:")
        if choice.opened:
            st.button(_("Close the file"), on_click=set_view_state, kwargs=NEW_MODEL, help=_("Back to the text above"))


def _read_by(model: str, revision: str) -> None:
    """Set the model and revision, and clear the selection that depends on them."""
    set_view_state(**(FRESH if model == get_view_state().model else NEW_MODEL), model=model, revision=revision)


def _switch(label: str, field: str, value: bool, help_text: str, *, disabled: bool = False) -> None:
    key = f"switch_{field}"
    st.session_state[key] = value
    kind = int if field == "count" else bool
    change = lambda: set_view_state(**{field: kind(st.session_state[key])})  # noqa: E731  (a widget's callback)
    st.checkbox(label, key=key, help=translate(help_text), on_change=change, disabled=disabled)


def _open() -> None:
    uploaded = st.session_state[UPLOAD]
    if uploaded is None:
        return
    try:
        trace = get_trace_store().open(uploaded.getvalue())
    except ValueError as error:
        st.session_state[PROBLEM] = [error_message(error)]
        return
    if trace.picture is not None:  # A picture's trace has no text for other pages.
        open_picture(trace)
        return
    changes = {"text": trace.text, "pair": trace.pair or "", "target": trace.target_text or ""}
    set_view_state(**{**NEW_MODEL, **changes, "opened": trace.id})
