"""Widgets that select the language of the app, the stack (encoder, decoder, cross-attention) and the view options."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attention.trace import Trace
from i18n import _, active_language, available_languages, gettext_lazy, language_name, translate
from inference.text.words import is_chinese
from ui.run.notices import show_notice
from ui.run.services import ViewOptions
from ui.state.session import UNSELECTED, change_language, set_view_state
from ui.state.view_state import ViewState

LANGUAGES_KEY = "picked_language"
LABEL = "Language · 语言"  # Both languages, for visitors who cannot read the page.


def pick_language() -> None:
    """Draw the widget that selects the app's language, with each language in its own name."""
    st.session_state[LANGUAGES_KEY] = active_language()
    st.selectbox(
        LABEL,
        available_languages(),
        key=LANGUAGES_KEY,
        format_func=language_name,
        label_visibility="collapsed",
        on_change=lambda: change_language(st.session_state[LANGUAGES_KEY]),
        help=_("Or by a link: add `?lang=zh` to the address."),
    )


PARTS_KEY = "pick_part"
NAMES: dict[str, str] = {
    "encoder": gettext_lazy("Encoder: source to source"),
    "decoder": gettext_lazy("Decoder: target to target"),
    "cross": gettext_lazy("Cross: target to source"),
}
HELP = gettext_lazy("The encoder reads the source; the decoder attends to the source and its own output.")


def pick_part(trace: Trace, look: ViewOptions) -> None:
    """Draw the widget that selects the stack (encoder, decoder, cross-attention) if the trace has several.

    ``look`` has the selected stack. Show a notice if this stack has no queries, keys and values.
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
        return _("These maps hold signed numbers, such as attributions: rows need not sum to one.")
    return _(
        "{architecture} reports attention maps only. Try BERT or GPT-2.",
        architecture=trace.model.architecture,
    )


WORDS = gettext_lazy("Merges a word's tokens: sums attention to it, averages attention from it (arXiv:1906.04341).")
CHINESE = gettext_lazy("Groups Chinese characters by jieba's dictionary.")
SPECIAL = gettext_lazy("Shows tokens that the tokenizer adds, such as [CLS].")
RENORMALISE = gettext_lazy("Rows sum to one without hidden special tokens.")
RENORMALISED = gettext_lazy("Special tokens are hidden; rows are scaled to sum to one.")
NOT_RENORMALISED = gettext_lazy("Special tokens are hidden, so rows sum to less than one.")


def draw_view_options(choice: ViewState, draw_more: Callable[[], None] | None = None) -> None:
    """Draw the popover of the view options, and in it a page's own, which ``draw_more`` draws."""
    with st.popover(_("View options"), help=_("Whole words, special tokens and more.")):
        _draw_switches(choice)
        if draw_more is not None:
            draw_more()


def _draw_switches(choice: ViewState) -> None:
    """Draw the switches for words, special tokens and renormalised rows."""
    _switch(_("Whole words"), "words", choice.words, WORDS)
    if choice.words and is_chinese(choice.text + choice.pair + choice.target):
        _switch(_("Chinese words"), "jieba", choice.jieba, CHINESE)
    _switch(_("Special tokens"), "special", choice.special, SPECIAL)
    _switch(_("Rescale rows"), "renormalise", choice.renormalise, RENORMALISE, disabled=choice.special)
    if choice.words:
        st.caption(translate(WORDS))
    if not choice.special:
        st.caption(translate(RENORMALISED if choice.renormalise else NOT_RENORMALISED))


def _switch(label: str, field: str, value: bool, help_text: str, *, disabled: bool = False) -> None:
    key = f"switch_{field}"
    st.session_state[key] = value
    kind = int if field == "count" else bool
    change = lambda: set_view_state(**{field: kind(st.session_state[key])})  # noqa: E731  (a widget's callback)
    st.checkbox(label, key=key, help=translate(help_text), on_change=change, disabled=disabled)
