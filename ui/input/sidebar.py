"""The sidebar: which model reads, how its maps are looked at, and saved traces."""

from __future__ import annotations

import streamlit as st

from inference.text.chinese_words import is_chinese
from ui.input.models import pick_model
from ui.run.refusals import say
from ui.run.shelf import shelf
from ui.state.choice import Choice
from ui.state.opened_picture import open_picture, opened_picture
from ui.state.session import FRESH, NEW_MODEL, choose, current
from wording import _, said_by, sentence, told

UPLOAD, PROBLEM = "opened_file", "open_problem"

WORDS = sentence(
    "Pieces of a word are merged: attention to a word is the sum over its pieces, "
    "attention from it the mean over them (arXiv:1906.04341)."
)
CHINESE = sentence(
    "A Chinese word is what jieba’s dictionary calls one, however many characters it has. Off: what the model’s "
    "tokenizer keeps together, often each character."
)
SPECIAL = sentence(
    "Show the tokens that the tokenizer adds, such as [CLS] and [SEP]. Much attention often rests on them."
)
RENORMALISE = sentence(
    "On: with special tokens hidden, each row is scaled to sum to one again, so weights compare among the words. "
    "Off: weights stay the model's own, and a row sums to what was not given to the hidden tokens."
)
RENORMALISED = sentence("Special tokens are hidden; each row is scaled to sum to one over what is left.")
NOT_RENORMALISED = sentence("Special tokens are hidden; weights are the model's own, so rows sum to less than one.")
COUNT = sentence("Papers often count layers and heads from 1; the code, BertViz and this app's links count from 0.")


def sidebar(choice: Choice) -> None:
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
        st.caption(told(RENORMALISED if choice.renormalise else NOT_RENORMALISED))
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
            say(problem)
        if opened_picture() is not None:
            say(_("The file is of a picture."), role="status")
            st.page_link("../../pages/pictures.py", label=_("Look at it on the page Pictures"), icon=":material/image:")
        if choice.opened:
            st.button(_("Close the file"), on_click=choose, kwargs=NEW_MODEL, help=_("Back to the text above"))


def _read_by(model: str, revision: str) -> None:
    """Another model reads the text, or another revision of the same one."""
    choose(**(FRESH if model == current().model else NEW_MODEL), model=model, revision=revision)


def _switch(label: str, field: str, value: bool, help_text: str, *, disabled: bool = False) -> None:
    key = f"switch_{field}"
    st.session_state[key] = value
    kind = int if field == "count" else bool
    change = lambda: choose(**{field: kind(st.session_state[key])})  # noqa: E731  (a widget's callback)
    st.checkbox(label, key=key, help=told(help_text), on_change=change, disabled=disabled)


def _open() -> None:
    uploaded = st.session_state[UPLOAD]
    if uploaded is None:
        return
    try:
        trace = shelf().open(uploaded.getvalue())
    except ValueError as error:
        st.session_state[PROBLEM] = [said_by(error)]
        return
    if trace.picture is not None:  # no text of it is there for other pages
        open_picture(trace)
        return
    changes = {"text": trace.text, "pair": trace.pair or "", "target": trace.target_text or ""}
    choose(**{**NEW_MODEL, **changes, "opened": trace.id})
