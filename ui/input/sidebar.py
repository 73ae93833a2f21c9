"""The sidebar: which model reads, how its maps are looked at, and saved traces."""

from __future__ import annotations

import streamlit as st

from i18n import _, error_message, gettext_lazy, translate
from inference.text.chinese_words import is_chinese
from ui.input.models import pick_model
from ui.run.notices import show_notice
from ui.run.services import get_trace_store
from ui.state.opened_picture import open_picture, opened_picture
from ui.state.session import FRESH, NEW_MODEL, get_view_state, set_view_state
from ui.state.view_state import ViewState

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
COUNT = gettext_lazy("Papers often count layers and heads from 1; the code, BertViz and this app's links count from 0.")


def sidebar(choice: ViewState) -> None:
    """Draw it."""
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
    _switch(_("Count from 1"), "count", bool(choice.count), COUNT)
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
            st.page_link("../../pages/pictures.py", label=_("Look at it on the page Pictures"), icon=":material/image:")
        if choice.opened:
            st.button(_("Close the file"), on_click=set_view_state, kwargs=NEW_MODEL, help=_("Back to the text above"))


def _read_by(model: str, revision: str) -> None:
    """Another model reads the text, or another revision of the same one."""
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
    if trace.picture is not None:  # no text of it is there for other pages
        open_picture(trace)
        return
    changes = {"text": trace.text, "pair": trace.pair or "", "target": trace.target_text or ""}
    set_view_state(**{**NEW_MODEL, **changes, "opened": trace.id})
