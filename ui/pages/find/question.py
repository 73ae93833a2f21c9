"""The question of the view Find: its options and three words, and the sentences and figures that answer it.

The question is which heads prefer the first of two candidates as the target of a source word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.head_names import head_label
from attention.head_search import LEAST, Flags, between_words, flips, follows, prefers_first
from attention.mask import FloatArray
from attention.view import View
from i18n import _, gettext_lazy, translate
from ui.input.probes import Probe, guess_nouns, is_likely_noun
from ui.run.head_answers import FLIPS, STRENGTHS, HeadAnswers, Words, strengths_computation
from ui.run.notices import show_notice
from ui.run.traces import displayed_request
from ui.show.chart import draw_chart, theme
from ui.show.tables import page_provenance
from ui.show.text import (
    decimals_of_difference,
    format_comma_list,
    format_strengths,
    in_points,
    join_sentences,
    signed_percent,
)
from ui.state.params import drop_place, get_params, set_params
from ui.state.selection import find_word, select
from ui.state.session import set_view_state
from ui.state.view_state import ViewState
from viz.components.token_strip.token_strip import Mark, TokenChip, mount
from viz.components.token_strip.token_strip import picked_chip as picked_chip
from viz.figures.head_maps import head_map, picked_head
from viz.options import option

ROLES = ("source", "first", "second")


@dataclass(frozen=True)
class FindOptions:
    """Options of the page Find, besides the shared view state."""

    against: int | None = option(None, of_text=drop_place)  # token of the second candidate
    inward: bool = False  # the candidates attend to the source
    clicking: str = option("source", choices=ROLES)  # role that a clicked word gets
    other: str = ""  # the changed text; "" is that of the probe
    neutral: str = ""  # texts with harmless changes, one per line; "" are those of the probe


def words_of(choice: ViewState, against: int | None, view: View, probe: Probe | None) -> tuple[Words, list[str]]:
    """Return the source word and the two candidates, and notes on missing words.

    Each word is the reader's choice, else that of the prepared question ``probe``, else a guess. The first candidate is
    then the target that the page Attention heads shows for the source, if that is a likely noun; the second is another
    noun. ``against`` is the reader's second candidate as a token index, like ``choice.focus`` and ``choice.to``.
    """
    example = None if probe is None else {"focus": probe.source, "target": probe.candidates[0]}
    selection, notes = select(choice, view, example)
    source, first, second = selection["focus"], selection["target"], _cell_of_token(view, against)
    missing = (
        []
        if probe is None
        else [word for word in (probe.source, *probe.candidates) if find_word(view.keys, word) is None]
    )
    if missing:
        notes.append(
            _(
                "The model does not read {words} in this text. Pick other words or a model of its language.",
                words=format_comma_list([_quote(word) for word in missing]),
            )
        )
    if second is None and probe is not None and first == find_word(view.keys, probe.candidates[0]):
        second = find_word(view.keys, probe.candidates[1])
    ordered = guess_nouns(view, source)
    ordered += [at for at, cell in enumerate(view.keys) if not cell.special and at not in ordered]
    taken, guessed = [source], []
    if first is None or first == source:
        shown = _shown_target(view, selection)
        first = next(cell for cell in (shown, *ordered) if cell is not None and cell not in (source, second))
        guessed.append(first)
    taken.append(first)
    if second is None or second in taken:
        second = next(cell for cell in ordered if cell not in taken)
        guessed.append(second)
    return Words(source, first, second, tuple(guessed)), notes


def _shown_target(view: View, selection: Mapping[str, Any]) -> int | None:
    """Return the word with the largest weight from the source in the selected head, or None for an unlikely noun.

    Attention heads shows this word as the target if the visitor has not chosen one.
    """
    weights = between_words(view.rows(selection["focus"]), view, selection["focus"])
    best = int(weights[selection["layer"], selection["head"]].argmax())
    return best if is_likely_noun(view, best) else None


def has_enough_words(view: View) -> bool:
    """Return True if the text has at least three words."""
    return sum(not cell.special for cell in view.keys) >= 3


def _cell_of_token(view: View, token: int | None) -> int | None:
    if token is None:
        return None
    return next((at for at, cell in enumerate(view.keys) if cell.pieces[0] <= token < cell.pieces[1]), None)


def _quote(word: str) -> str:
    return f"“{word}”"


STRIP, CLICKING, INWARD, STRENGTH = "find_strip", "find_clicking", "find_inward", "find_strength"
ROLE_NAMES: dict[str, str] = {
    "source": gettext_lazy("Source"),
    "first": gettext_lazy("First candidate"),
    "second": gettext_lazy("Second candidate"),
}


def pick_words(asked: HeadAnswers, options: FindOptions, row: DeltaGenerator) -> None:
    """Draw the text as clickable words, and in ``row`` the widget that selects the role of a clicked word.

    A click on a word makes it the source word or a candidate.
    """
    st.session_state[CLICKING] = options.clicking
    row.segmented_control(
        _("A click sets"),
        ROLES,
        key=CLICKING,
        format_func=lambda role: translate(ROLE_NAMES[role]),
        on_change=lambda: set_params(FindOptions, clicking=st.session_state[CLICKING] or options.clicking),
    )
    words = asked.words
    labels = {getattr(words, role): translate(label) for role, label in ROLE_NAMES.items()}
    marks: dict[int, Mark] = {words.source: "chosen", words.first: "target", words.second: "target"}
    chips = [
        TokenChip(cell.text, mark=marks.get(at, ""), special=cell.special, label=labels.get(at, ""))
        for at, cell in enumerate(asked.view.keys)
    ]
    mount(chips, STRIP, title=_("Click a word"), on_pick=lambda: _set(asked.view, options.clicking))


def pick_direction() -> None:
    """Draw the check box for links from the candidates to the source, instead of from the source to the candidates."""
    st.session_state[INWARD] = get_params(FindOptions).inward
    st.checkbox(
        _("Candidates attend"),
        key=INWARD,
        on_change=lambda: set_params(FindOptions, inward=st.session_state[INWARD]),
        help=_("Off: the source attends to the candidates."),
    )


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
    """Draw in ``row`` the widget that selects the measure of a link's strength, for all pages.

    The measure is the attention weight, or the weight above a baseline.
    """
    st.session_state[STRENGTH] = choice.by
    row.segmented_control(
        _("Strength"),
        list(STRENGTHS),
        key=STRENGTH,
        format_func=lambda by: translate(STRENGTHS[by]),
        required=True,
        on_change=lambda: set_view_state(by=st.session_state[STRENGTH]),
        help=_("The weight minus the larger of column mean and positional prior."),
    )


def describe_link(asked: HeadAnswers) -> str:
    """Describe the head with the strongest link between the source and the first candidate, and its baseline."""
    layer, head = strongest_link(asked)
    weight = float(asked.found[0, layer, head])
    baseline, name = asked.baseline(layer, head)
    decimals = decimals_of_difference(weight, baseline)
    words = [asked.name(asked.words.source), asked.name(asked.words.first)]
    query, key = words[::-1] if asked.inward else words
    sentences = [
        _(
            "Head {head} links {query} to {key} most: its weight is {weight}.",
            head=head_label(layer, head),
            query=query,
            key=key,
            weight=signed_percent(weight, decimals),
        )
    ]
    word, times, others = asked.key_counts(layer, head)
    if others and not np.isnan(asked.usual[0, layer, head]):
        sentences += [
            _(
                "The weight minus its baseline of {baseline} ({name}) is {rest}.",
                rest=in_points(weight - baseline, decimals),
                baseline=signed_percent(baseline, decimals),
                name=name,
            ),
            _(
                "Special tokens aside, {word} is the strongest target of {times} of {others} other words.",
                word=word,
                times=times,
                others=others,
            ),
        ]
    return join_sentences(*sentences)


def strongest_link(asked: HeadAnswers) -> tuple[int, int]:
    """Return the (layer, head) with the strongest link between the source and the first candidate."""
    return _strongest(np.where(np.isnan(asked.preference), np.nan, asked.strengths[0]))


def describe_preference(asked: HeadAnswers) -> str:
    """Describe how many heads prefer each candidate, and the head with the largest preference.

    A preference is the difference between the strengths of the two candidates, of either sign.
    """
    sentences = [_describe_counts(asked)]
    largest = _largest_difference(asked)
    if largest is not None:
        layer, head = largest
        cells = asked.words.first, asked.words.second
        more, less = (0, 1) if asked.preference[layer, head] > 0 else (1, 0)
        strengths = [float(asked.strengths[at, layer, head]) for at in (more, less)]
        first, second = format_strengths(strengths, asked.is_adjusted)
        values = {
            "word": asked.name(cells[more]),
            "other": asked.name(cells[less]),
            "head": head_label(layer, head),
            "first": first,
            "second": second,
        }
        if largest == _strongest(np.abs(asked.preference)):
            said = _("The largest difference, {word} − {other}, is in head {head}: {first} against {second}.", **values)
        else:
            said = _(
                "Among heads with a link above baseline, {word} − {other} is largest in head {head}: {first} "
                "against {second}.",
                **values,
            )
        sentences.append(said)
    if asked.words.guessed:
        words = format_comma_list([asked.name(cell) for cell in asked.words.guessed])
        sentences.append(_("Chosen automatically: {words}.", words=words))
    return join_sentences(*sentences)


def _largest_difference(asked: HeadAnswers) -> tuple[int, int] | None:
    """Return the (layer, head) with the largest absolute difference between the candidates.

    Only heads count whose stronger candidate has a positive strength: a link at or below its baseline is not preferred,
    even if the other link is further below. Return None without such a head.
    """
    sizes = np.where(asked.strengths.max(axis=0) > 0, np.abs(asked.preference), np.nan)
    return _strongest(sizes) if np.isfinite(sizes).any() else None


def _strongest(margins: FloatArray) -> tuple[int, int]:
    """Return the (layer, head) of the largest value; ``margins`` is (layer, head) with NaN."""
    layer, head = np.unravel_index(int(np.nanargmax(margins)), margins.shape)
    return int(layer), int(head)


def _describe_counts(asked: HeadAnswers) -> str:
    """Describe how many heads prefer the first candidate, and how many the second."""
    margins = asked.preference
    names = (asked.name(cell) for cell in (asked.words.source, asked.words.first, asked.words.second))
    values: dict[str, Any] = dict(zip(("source", "first", "second"), names, strict=True))
    values |= {
        "many": int(prefers_first(margins).sum()),
        "others": int(prefers_first(-margins).sum()),
        "size": int(np.isfinite(margins).sum()),
        "least": in_points(LEAST),
        "measure": asked.measure,
    }
    if asked.inward:
        return _(
            "In {many} of {size} heads, the {measure} to {source} is larger from {first}; in {others}, from {second} "
            "(by over {least}).",
            **values,
        )
    return _(
        "In {many} of {size} heads, the {measure} from {source} is larger to {first}; in {others}, to {second} "
        "(by over {least}).",
        **values,
    )


def describe_strongest(asked: HeadAnswers, other: HeadAnswers) -> str:
    """Describe both candidates' strengths in the changed text, for the head with the largest preference.

    ``asked`` has the preferences in the original text, and ``other`` the strengths in the changed text. Return "" if no
    head has a preference.
    """
    largest = _largest_difference(asked)
    if largest is None:
        return ""
    layer, head = largest
    now = other.strengths[:, layer, head]
    names = other.name(other.words.first), other.name(other.words.second)
    mine, theirs = (0, 1) if other.preference[layer, head] > 0 else (1, 0)
    weight, less = format_strengths([float(now[mine]), float(now[theirs])], asked.is_adjusted)
    return _(
        "After the change, {measure} in head {head}: {word} {weight}, {other} {less}.",
        head=head_label(layer, head),
        word=names[mine],
        measure=asked.measure,
        weight=weight,
        less=less,
        other=names[theirs],
    )


def describe_flips(asked: HeadAnswers, turned: Flags, meaning: Flags, harmless: Sequence[HeadAnswers]) -> str:
    """Describe how many heads flip, that is, prefer the other candidate in the changed text.

    The boolean maps (layer, head) mark heads that flip in either direction (``turned``), and those that flip from the
    first candidate to the second (``meaning``). ``harmless`` are the results of rewordings, in which heads flip by
    chance.
    """
    counts = [int(flips(asked.preference, one.preference).sum()) for one in harmless]
    sentences = [
        _(
            "{turned} of {size} heads flip ({measure}, by over {least} in each text), {meaning} of them from the first"
            " candidate to the second.",
            measure=asked.measure,
            turned=int(turned.sum()),
            meaning=int(meaning.sum()),
            least=in_points(LEAST),
            size=int(np.isfinite(asked.preference).sum()),
        )
    ]
    if counts:
        sentences.append(
            _(
                "Chance: {counts} heads flip in rewordings ({mean:.1f} on average).",
                counts=format_comma_list([str(count) for count in counts]),
                mean=sum(counts) / len(counts),
            )
        )
    return join_sentences(*sentences)


def answer(asked: HeadAnswers, choice: ViewState) -> None:
    """Draw the answer: the strongest head, a map of heads for each candidate and for their difference, and counts.

    Weights above a baseline can be negative, and their maps then have a diverging colour scale.
    """
    prefers, request = asked.preference, displayed_request(choice, asked.view.trace)
    first, second = asked.name(asked.words.first), asked.name(asked.words.second)
    show_notice(describe_link(asked), role="status")
    is_signed = asked.is_adjusted or asked.view.is_signed
    limit = max(float(np.abs(asked.strengths).max()), 0.01)
    unit = asked.measure
    columns = st.columns(3)
    chosen = None if choice.layer is None or choice.head is None else (choice.layer, choice.head)
    about = partial(answers_provenance, asked)
    for at, (column, name) in enumerate(zip(columns, (first, second), strict=False)):
        shown = np.where(np.isnan(prefers), np.nan, asked.strengths[at])
        figure = head_map(
            shown, theme(), _arrow(asked, name), unit, diverging=is_signed, selected=chosen, limit=limit
        )  # fmt: skip
        computation = strengths_computation(f"found[{at}]", asked, request)
        draw_chart(
            figure, f"find_map_{at}", place=column, on_click=_picker(asked), about=about, computation=computation
        )
    figure = head_map(
        prefers, theme(), f"{first} − {second}", _("Difference"), diverging=True, selected=chosen,
        meaning=(_("favours {word}", word=second), _("favours {word}", word=first)))  # fmt: skip
    computation = strengths_computation("preference(found)", asked, request)
    draw_chart(
        figure, "find_difference", place=columns[2], on_click=_picker(asked), about=about, computation=computation
    )
    st.caption(_("Cells: heads; click to select. The first two maps share a scale."))
    show_notice(describe_preference(asked), role="status")


def _arrow(asked: HeadAnswers, name: str) -> str:
    """Return the title of a candidate's map: the query word, and the key word."""
    source = asked.name(asked.words.source)
    return f"{name} → {source}" if asked.inward else f"{source} → {name}"


def _picker(asked: HeadAnswers) -> Callable[[str], None]:
    """Return the callback of the maps, which selects a clicked head.

    A first candidate that was chosen automatically is kept, because it would otherwise be that of the clicked head.
    """
    keys, words = asked.view.keys, asked.words
    source, first = (keys[cell].pieces[0] for cell in (words.source, words.first))
    kept = {"focus": source, "to": first} if words.first in words.guessed else {}

    def pick(key: str) -> None:
        head = picked_head(st.session_state[key])
        if head is not None:
            set_view_state(layer=head[0], head=head[1], **kept)

    return pick


def compare(asked: HeadAnswers, other: HeadAnswers, harmless: Sequence[HeadAnswers | None], choice: ViewState) -> None:
    """Draw the heads that prefer another candidate in the changed text.

    ``harmless`` are the results of rewordings, for comparison; a result is None if the rewording lacks the words.
    """
    request = displayed_request(choice, asked.view.trace)
    before, after = asked.preference, other.preference
    turned, meaning = flips(before, after), follows(before, after)
    if said := describe_strongest(asked, other):
        show_notice(said, role="status")
    reworded = [one for one in harmless if one is not None]
    counts = describe_flips(asked, turned, meaning, reworded)
    show_notice(counts, role="status")
    left, right = st.columns(2)
    first, second = asked.name(asked.words.first), asked.name(asked.words.second)
    figure = head_map(
        after - before, theme(), _("Change of {first} − {second}", first=first, second=second), _("change"),
        diverging=True, meaning=(_("favours {word}", word=second), _("favours {word}", word=first)))  # fmt: skip
    computation = strengths_computation("after - before", asked, request, other)
    about = partial(answers_provenance, asked, other)
    draw_chart(figure, "find_change", place=left, on_click=_picker(asked), about=about, computation=computation)
    directions = np.where(np.isnan(before), np.nan, meaning.astype(np.float32) - (turned & ~meaning))
    figure = head_map(
        directions, theme(), _("Heads that flip"), _("Direction"),
        diverging=True, limit=1.0,
        kinds={1: f"{first} → {second}", -1: f"{second} → {first}", 0: _("no flip")})  # fmt: skip
    computation = strengths_computation(FLIPS, asked, request, other)
    about = partial(answers_provenance, asked, other, reworded)
    draw_chart(
        figure, "find_flips", place=right, on_click=_picker(asked), about=about, computation=computation, test=counts
    )


def answers_provenance(
    asked: HeadAnswers, other: HeadAnswers | None = None, reworded: Sequence[HeadAnswers] = ()
) -> dict[str, Any]:
    """Return the provenance of strengths: the model, the texts, the three words and the measure of strength.

    ``other`` are the strengths in the changed text, and ``reworded`` those in its rewordings, if the numbers need them.
    """
    baseline = "column mean" if asked.placed is None else "larger of column mean and positional prior"
    texts: dict[str, Any] = {} if other is None else {"second_text": other.view.trace.text}
    if reworded:
        texts["rewordings"] = [one.view.trace.text for one in reworded]
    return {
        **page_provenance(),
        **texts,
        "source": _place(asked, asked.words.source),
        "first_candidate": _place(asked, asked.words.first),
        "second_candidate": _place(asked, asked.words.second),
        "links": "from each candidate to the source" if asked.inward else "from the source to each candidate",
        "strength": f"weight above baseline ({baseline})" if asked.is_adjusted else "weight",
        "minimum_difference": f"{100 * LEAST:.1f} percentage points",
    }


def _place(asked: HeadAnswers, cell: int) -> str:
    """Return a word with its tokens, counted from 0."""
    first, stop = asked.view.keys[cell].pieces
    return f"{asked.name(cell)} ({f'token {first}' if stop - first == 1 else f'tokens {first} to {stop - 1}'})"
