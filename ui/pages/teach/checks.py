"""Teach page: checks of the data set for duplicates, truncated texts and unknown tokens."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import streamlit as st

from i18n import _
from inference import UserError
from inference.tasks.hidden_states import TextSizes
from probing.labelled.data_checks import LengthFit, Measure, fit
from probing.labelled.labeled_texts import LabeledText, TaggedText
from ui.pages.teach.data import TaskData
from ui.run.downloading import draw_offer
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.state.session import get_view_state

FIT = "teach_fit"
ENDS = 2  # The special tokens around a text that is read by characters.


def checks(data: TaskData, model: str | None, revision: str | None, length: int) -> None:
    """Show the duplicates, and how many texts are cut or contain unknown tokens.

    Offer the download of the tokenizer if it is missing. ``model`` is None for the character-level model, which
    has no tokenizer before its training.
    """
    show_notice(data.duplicates.sentence, role="status")
    try:
        found = _fit(data, model, revision, length)
        said = found.sentence
        if found.cut:
            said = _("{said} Set it by “Maximum length” in “Advanced settings”.", said=said)
        show_notice(said, role="status")
        if found.unreadable and model is not None:
            show_notice(found.unreadable)
    except UserError as refusal:
        if refusal.way_out == "download" and model is not None:
            draw_offer(replace(get_view_state(), model=model, revision=revision or ""), refusal.details["offer"])
        else:
            show_notice(refusal.message)


def _fit(data: TaskData, model: str | None, revision: str | None, length: int) -> LengthFit:
    """Return how the texts fit the model's length and vocabulary, cached in the session.

    Raise UserError if the tokenizer cannot be read.
    """
    key = (data.key, model, revision, length)
    kept: tuple[object, LengthFit] | None = st.session_state.get(FIT)
    if kept is None or kept[0] != key:
        measure = by_characters(data.labels.train) if model is None else _count_tokens_with(model, revision)
        with st.spinner(_("Counting tokens")):
            kept = st.session_state[FIT] = (key, fit(data.labels, measure, length))
    return kept[1]


def _count_tokens_with(model: str, revision: str | None) -> Measure:
    """Return a measure that counts the tokens and unknown tokens of texts with the model's tokenizer."""

    def measure(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        sizes = get_backend().inspect(TextSizes(model=model, revision=revision, texts=tuple(texts)))
        return zip(sizes.tokens.tolist(), sizes.unknown.tolist(), strict=True)

    return measure


def by_characters(train: Sequence[LabeledText] | Sequence[TaggedText]) -> Measure:
    """Return a measure that counts the characters of texts, plus ENDS tokens, and the unknown characters.

    Unicode width and case are ignored. A character is unknown if the train rows contain it fewer than two times.

    >>> list(by_characters([LabeledText("大家好", "a"), LabeledText("大好", "b")])(["大 家"]))
    [(4, 1)]
    """
    seen = Counter(character for row in train for character in _read(row.text))

    def measure(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        for text in map(_read, texts):
            yield len(text) + ENDS, sum(seen[character] < 2 for character in text)

    return measure


def _read(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).lower().split())
