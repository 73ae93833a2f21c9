"""A text and its variant with another meaning: the switch between them, and the panel “Why this head?”.

The library's probes (ui/input/probes.py) have two texts, such as “too tired” and “too wide”, a source word and two
candidates. A head switches if it prefers the first candidate in one text and the second in the other
(`attention.head_search.flips`), by the measure of strength that all pages share.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention.head_search import LEAST, flips
from attention.view import View
from i18n import _, gettext_lazy, translate
from inference import UserError
from inference.tasks.score_decomposition import ScoreRequest
from ui.input.composing import read_texts
from ui.input.probes import LIBRARY, Probe
from ui.run.head_answers import HeadAnswers, Words, ask_again, ask_heads
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.run.traces import input_of, request_of
from ui.show.text import format_strengths, in_points
from ui.show.views import link_to_view
from ui.show.why_head import Explained, ExplainedLink, Variant, draw_why, is_open
from ui.state.selection import marked_target
from ui.state.session import set_view_state
from ui.state.view_state import ViewState

KEY = "variant"
COMPARE = gettext_lazy("Compare both")
WORD = re.compile(r"\w+(?:['’]\w+)?")


@dataclass(frozen=True)
class Variants:
    """A text and its variant with another meaning (ui/input/probes.py), and the words that differ."""

    probe: Probe
    words: tuple[str, str]

    @property
    def texts(self) -> tuple[str, str]:
        """Return the probe's text and its variant."""
        return self.probe.text, self.probe.other


def differing_words(text: str, other: str) -> tuple[str, str]:
    """Return the differing words of two texts, each joined by spaces.

    >>> differing_words("It was too tired.", "It was too wide.")
    ('tired', 'wide')
    """
    left, right = WORD.findall(text), WORD.findall(other)
    found: tuple[list[str], list[str]] = ([], [])
    for tag, a, b, c, d in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag != "equal":
            found[0].extend(left[a:b])
            found[1].extend(right[c:d])
    return " ".join(found[0]), " ".join(found[1])


def variants_of(choice: ViewState) -> Variants | None:
    """Return the variants of the chosen text; None if the library has none that differs by a word."""
    if choice.pair or choice.target or choice.opened:
        return None
    probe = next((one for one in LIBRARY if one.other and choice.text in (one.text, one.other)), None)
    if probe is None:
        return None
    words = differing_words(probe.text, probe.other)
    return Variants(probe, words) if all(words) and words[0] != words[1] else None


def draw_switch(choice: ViewState, variants: Variants, sentence: str | None) -> None:
    """Draw the switch between the two texts of ``variants``, which differ in a word, and ``sentence`` next to it."""
    st.session_state[KEY] = choice.text
    with st.container(horizontal=True, vertical_alignment="center", key="variants"):
        st.segmented_control(
            _("Variant"),
            variants.texts,
            key=KEY,
            format_func=lambda text: variants.words[variants.texts.index(text)],
            label_visibility="collapsed",
            required=True,
            on_change=_read_variant,
        )
        if sentence is not None:
            show_notice(sentence, role="status")


def _read_variant() -> None:
    read_texts({"text": st.session_state[KEY], "pair": "", "target": ""})


def other_text(choice: ViewState, variants: Variants) -> str:
    """Return the text of the two variants that is not shown now."""
    return next(text for text in variants.texts if text != choice.text)


def describe_change(choice: ViewState, variants: Variants) -> str | None:
    """Return a sentence about the heads that prefer another candidate after a word of the text is replaced.

    Candidates are the words that a pronoun of the text may mean. The sentence also names the head that changes most.
    Return None if the text lacks a word of the question. Raise UserError if a text cannot be read.
    """
    first, second = get_backend().traces(
        [
            replace(request_of(choice), text=text, pair=None, cut=None)
            for text in (choice.text, other_text(choice, variants))
        ]
    )
    view = View(first, part=choice.part or None, words=True)
    places = _places(view, variants.probe)
    if places is None:
        return None
    asked = ask_heads(view, places, False, choice)
    again = ask_again(asked, View(second, part=choice.part or None, words=True), choice)
    words = variants.words if choice.text == variants.texts[1] else variants.words[::-1]
    return None if again is None else _describe(asked, again, words)


def _places(view: View, probe: Probe) -> Words | None:
    """Return the cells of the probe's words, or None if the text lacks one."""
    texts = [("" if cell.special else cell.text.casefold()) for cell in view.keys]
    words = [word.casefold() for word in (probe.source, *probe.candidates)]
    if not set(words) <= set(texts):
        return None
    source, first, second = map(texts.index, words)
    return Words(source, first, second)


def _describe(asked: HeadAnswers, again: HeadAnswers, words: tuple[str, str]) -> str:
    """Describe the change from the other text to this text; ``words`` are the words that differ, in this order."""
    change = np.nan_to_num(np.abs(asked.preference - again.preference))
    layer, head = np.unravel_index(change.argmax(), change.shape)
    changes = [
        " → ".join(format_strengths([float(side.strengths[at, layer, head]) for side in (again, asked)],
                                    asked.is_adjusted))
        for at in range(2)
    ]  # fmt: skip
    values: dict[str, Any] = {
        "before": words[0],
        "now": words[1],
        "model": asked.view.trace.model.name.split("/")[-1],
        "many": int(flips(again.preference, asked.preference).sum()),
        "least": in_points(LEAST),
        "measure": asked.measure,
        "size": int(np.isfinite(asked.preference).sum()),
        "source": asked.name(asked.words.source),
        "first": asked.name(asked.words.first),
        "second": asked.name(asked.words.second),
        "head": f"{layer}-{head}",
        "first_change": changes[0],
        "second_change": changes[1],
    }
    return _(
        "From “{before}” to “{now}”, head {head} of {model} changes most: {source} to {first} {first_change}, "
        "to {second} {second_change} ({measure}). {many} of {size} heads switch between them, by over {least} in "
        "each text.",
        **values,
    )


def draw_variants(choice: ViewState) -> None:
    """Draw the switch between a text and its variant, and the changes, if the library has a variant."""
    variants = variants_of(choice)
    if variants is None:
        return
    try:
        sentence = describe_change(choice, variants)
    except UserError:  # The page shows the error of its own text; that of the variant is shown if it is chosen.
        sentence = None
    draw_switch(choice, variants, sentence)


def link_to_comparison(choice: ViewState) -> None:
    """Draw the link to the comparison of both texts, if the library has a variant of the text."""
    variants = variants_of(choice)
    if variants is None:
        return
    texts = {"text": choice.text, "other": other_text(choice, variants)}
    link_to_view(
        "compare",
        translate(COMPARE),
        icon=":material/compare:",
        help=translate(COMPARE),
        query={"model": choice.model, "differs": "text", **texts},
    )


def draw_text_why(choice: ViewState, view: View, selection: Mapping[str, Any]) -> None:
    """Draw the panel "Why this head?" for the link that the microscope marks in a text."""
    asked = Explained(
        partial(question, choice, view),
        partial(set_view_state, facing="out"),
        partial(variant_question, choice, view),
    )
    marked = {**selection, "target": marked_target(selection, view)} if is_open() else selection
    draw_why(view, marked, asked)


def question(choice: ViewState, view: View, link: ExplainedLink) -> ScoreRequest:
    """Return the request to decompose the score of a link; for an opened file, the text is that of the file."""
    return ScoreRequest(
        **input_of(choice, view.trace),
        part=view.part or view.trace.part,
        layer=link.layer,
        head=link.head,
        query_token=link.query,
        key_token=link.key,
    )


def variant_question(choice: ViewState, view: View, link: ExplainedLink) -> Variant:
    """Return the request to split a link's score into its sources in the variant, and the differing words.

    If the library has no variant of the text, or if the variant has other tokens at the link, the result is None and
    "".
    """
    variants = variants_of(choice)
    if variants is None:
        return None, ("",)
    text = other_text(choice, variants)
    words = variants.words if choice.text == variants.texts[0] else variants.words[::-1]
    try:
        trace = get_backend().trace(replace(request_of(choice), text=text, pair=None, cut=None))
        places, own = (link.query, link.key), view.trace
        if any(at >= len(trace.source) or trace.source.ids[at] != own.source.ids[at] for at in places):
            return None, ("",)
        return replace(question(choice, view, link), text=text, cut=None, checks=0), words
    except UserError:  # The panel explains the text that is shown; the variant is an addition.
        return None, ("",)
