"""Figures and controls of the page Find: the three words, the heads' answers, and the changed text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.head_search import LEAST, flips, follows
from attention.view import View
from i18n import _, gettext_lazy, translate
from ui.pages.find.descriptions import describe_flips, describe_preference, describe_strongest
from ui.pages.find.options import ROLES, FindOptions
from ui.run.head_answers import HeadAnswers
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.state.params import get_params, set_params
from ui.state.session import set_view_state
from ui.state.view_state import ViewState
from viz.components.token_strip.token_strip import Mark, TokenChip, mount
from viz.components.token_strip.token_strip import picked_chip as picked_chip
from viz.figures.head_maps import head_map, picked_head

STRIP, CLICKING, INWARD, STRENGTH = "find_strip", "find_clicking", "find_inward", "find_strength"
STRENGTHS: dict[str, str] = {"excess": gettext_lazy("excess"), "weight": gettext_lazy("weight")}
ROLE_NAMES: dict[str, str] = {
    "source": gettext_lazy("Source word"),
    "first": gettext_lazy("First candidate"),
    "second": gettext_lazy("Second candidate"),
}
LABELS: dict[str, str] = {
    "source": gettext_lazy("source"),
    "first": gettext_lazy("first"),
    "second": gettext_lazy("second"),
}


def pick_words(asked: HeadAnswers, options: FindOptions, row: DeltaGenerator) -> None:
    """Draw the sentence as chips, and in ``row`` the controls of the role that a click sets and of the direction."""
    st.session_state[CLICKING], st.session_state[INWARD] = options.clicking, options.inward
    row.segmented_control(
        _("A click sets"),
        ROLES,
        key=CLICKING,
        format_func=lambda role: translate(ROLE_NAMES[role]),
        on_change=lambda: set_params(FindOptions, clicking=st.session_state[CLICKING] or options.clicking),
        help=_("Choose what to set, then click a word of the sentence."),
    )
    row.toggle(
        _("Candidates attend"),
        key=INWARD,
        on_change=lambda: set_params(FindOptions, inward=st.session_state[INWARD]),
        help=_("Off: attention from the source to each candidate. On: from each candidate to the source."),
    )
    words = asked.words
    labels = {getattr(words, role): translate(label) for role, label in LABELS.items()}
    marks: dict[int, Mark] = {words.source: "chosen", words.first: "target", words.second: "target"}
    chips = [
        TokenChip(cell.text, mark=marks.get(at, ""), special=cell.special, label=labels.get(at, ""))
        for at, cell in enumerate(asked.view.keys)
    ]
    mount(chips, STRIP, title=_("Click a word"), on_pick=lambda: _set(asked.view, options.clicking))


def _set(view: View, role: str) -> None:
    cell = picked_chip(STRIP)
    if cell is None or cell >= len(view.keys) or view.keys[cell].special:
        return
    token = view.keys[cell].pieces[0]
    following = ROLES[(ROLES.index(role) + 1) % len(ROLES)]
    if role == "second":
        set_params(FindOptions, against=token, clicking=following)
    else:
        set_view_state(**{"source": {"focus": token}, "first": {"to": token}}[role])
        set_params(FindOptions, clicking=following)


def pick_strength(choice: ViewState, row: DeltaGenerator) -> None:
    """Draw in ``row`` the control of the measure of strength, which all pages share."""
    st.session_state[STRENGTH] = choice.by
    row.segmented_control(
        _("Strength"),
        list(STRENGTHS),
        key=STRENGTH,
        format_func=lambda by: translate(STRENGTHS[by]),
        required=True,
        on_change=lambda: set_view_state(by=st.session_state[STRENGTH]),
        help=_("Excess: the weight minus the larger of its column mean and positional prior."),
    )


def answer(asked: HeadAnswers, choice: ViewState) -> None:
    """Draw the summary, a map for each candidate, and a map of their difference."""
    prefers = asked.preference
    first, second = asked.name(asked.words.first), asked.name(asked.words.second)
    show_notice(describe_preference(asked), role="status")
    limit = max(float(asked.strengths.max()), 0.01)
    unit = _("excess") if asked.is_adjusted else _("weight")
    columns = st.columns(3)
    chosen = None if choice.layer is None or choice.head is None else (choice.layer, choice.head)
    for at, (column, name) in enumerate(zip(columns, (first, second), strict=False)):
        shown = np.where(np.isnan(prefers), np.nan, np.maximum(asked.strengths[at], 0))
        figure = head_map(shown, theme(), _title(asked, name), unit, selected=chosen, limit=limit)
        draw_chart(figure, f"find_map_{at}", place=column, on_click=_on_pick)
    figure = head_map(
        prefers, theme(), f"{first} − {second}", _("difference"), diverging=True, selected=chosen,
        meaning=(_more_label(asked, second), _more_label(asked, first)))  # fmt: skip
    draw_chart(figure, "find_difference", place=columns[2], on_click=_on_pick)
    st.caption(
        _(
            "Each cell is a head; a click selects it on all pages. The first two maps share a scale; the "
            "third is their difference. Attention to a word is the sum over its tokens, attention from it "
            "the mean."
        )
    )


def _title(asked: HeadAnswers, name: str) -> str:
    """Return the title of a candidate's map."""
    if asked.is_adjusted:
        return _("Excess from {word}", word=name) if asked.inward else _("Excess to {word}", word=name)
    return _("Weight from {word}", word=name) if asked.inward else _("Weight to {word}", word=name)


def _more_label(asked: HeadAnswers, name: str) -> str:
    return _("more from {word}", word=name) if asked.inward else _("more to {word}", word=name)


def _on_pick(key: str) -> None:
    head = picked_head(st.session_state[key])
    if head is not None:
        set_view_state(layer=head[0], head=head[1])


def compare(asked: HeadAnswers, other: HeadAnswers, harmless: Sequence[HeadAnswers | None]) -> None:
    """Draw the changes in the other text, compared with those of harmless changes."""
    before, after = asked.preference, other.preference
    turned, meaning = flips(before, after), follows(before, after)
    show_notice(describe_strongest(asked, other), role="status")
    show_notice(describe_flips(asked, turned, meaning, [one for one in harmless if one is not None]), role="status")
    left, right = st.columns(2)
    first, second = asked.name(asked.words.first), asked.name(asked.words.second)
    figure = head_map(
        after - before, theme(), _("Change of {first} − {second}", first=first, second=second), _("change"),
        diverging=True, meaning=(_("towards {word}", word=second), _("towards {word}", word=first)))  # fmt: skip
    draw_chart(figure, "find_change", place=left, on_click=_on_pick)
    directions = np.where(np.isnan(before), np.nan, meaning.astype(np.float32) - (turned & ~meaning))
    figure = head_map(
        directions, theme(), _("Heads that flip"), _("direction"),
        diverging=True, limit=1.0,
        kinds={1: _flip(first, second), -1: _flip(second, first), 0: _("no flip")})  # fmt: skip
    draw_chart(figure, "find_flips", place=right, on_click=_on_pick)
    st.caption(
        _(
            "Left: the change of each head's preference. Right: heads that prefer another word after the "
            "change, by over {least} each time.",
            least=LEAST,
        )
    )


def _flip(before: str, after: str) -> str:
    return _("from {before} to {after}", before=before, after=after)


def options() -> FindOptions:
    """Return the options of the page."""
    return get_params(FindOptions)
