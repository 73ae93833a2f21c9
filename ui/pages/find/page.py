"""The view Find: heads that link a source word to a candidate, in a text and in its variants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.mask import FloatArray
from attention.trace import Trace
from attention.view import View
from i18n import _, error_message
from inference import TraceRequest, UserError
from ui.input.composing import compose
from ui.input.controls import control_row
from ui.input.probes import LIBRARY, Probe, dump_probes, parse_probes, probe_of
from ui.input.unknown_words import require_readable
from ui.pages.find.question import (
    FindOptions,
    answer,
    answers_provenance,
    compare,
    has_enough_words,
    pick_direction,
    pick_strength,
    pick_words,
    strongest_link,
    words_of,
)
from ui.run.head_answers import HeadAnswers, ask_again, ask_heads
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.services import get_backend
from ui.run.traces import read_trace, request_of
from ui.show.pronoun_head import draw_pronoun_head
from ui.show.sections import draw_reading_help
from ui.show.tables import csv_table, download_button
from ui.show.text import format_and_list
from ui.state.params import get_params, set_params
from ui.state.selection import find_word
from ui.state.session import FRESH, get_view_state, set_view_state
from ui.state.view_state import ViewState


def answers_csv(asked: HeadAnswers, other: HeadAnswers | None) -> bytes:
    """Return a CSV row per head with its weights and their baselines in both texts."""
    columns = _columns(asked)
    if other is not None:
        columns += [(_("{column} (other text)", column=name), numbers) for name, numbers in _columns(other)]
    rows = [
        [layer, head, *(_digits(numbers[layer, head]) for _name, numbers in columns)]
        for layer, head in np.argwhere(np.isfinite(asked.preference)).tolist()
    ]
    return csv_table([_("Layer"), _("Head"), *(name for name, _numbers in columns)], rows).encode()


def _columns(asked: HeadAnswers) -> list[tuple[str, FloatArray]]:
    """Return the name and the numbers, shape (layer, head), of each column of a text."""
    words = [asked.view.keys[cell].text for cell in (asked.words.first, asked.words.second)]
    measures = [(_("weight"), asked.found), (_("column mean"), asked.usual)]
    if asked.placed is not None:
        measures.append((_("positional prior"), asked.placed))
    return [
        (_("{name}: {text}", name=name.capitalize(), text=word), numbers[at])
        for name, numbers in measures
        for at, word in enumerate(words)
    ]


def _digits(weight: float) -> float | None:
    return None if np.isnan(weight) else float(f"{weight:.6g}")


PICK, UPLOAD, OWN, PROBLEM = "probe", "probe_file", "own_probes", "probe_problem"
NAME = "probe_name"
MINE = -1  # index for the reader's own text


def probes() -> tuple[Probe, ...]:
    """Return the reader's own probes, then those of the library."""
    mine: tuple[Probe, ...] = st.session_state.get(OWN, ())
    return (*mine, *LIBRARY)


def pick_probe(choice: ViewState, row: DeltaGenerator) -> Probe | None:
    """Draw the widget that selects a ready question in ``row``; return the question about the current text, or None.

    A question, called probe, is a word of a text and the candidates that a head may link it to.
    """
    known = probes()
    now = probe_of(choice.text, known)
    st.session_state[PICK] = MINE if now is None else known.index(now)
    row.selectbox(
        _("Ready question"),
        range(MINE, len(known)),
        key=PICK,
        format_func=lambda at: _("Your own text") if at == MINE else known[at].title(),
        on_change=_set_probe,
        help=_("A word, two candidates, a changed text and rewordings."),
        width=360,
    )
    return now


def _set_probe() -> None:
    at = st.session_state[PICK]
    if at != MINE:
        set_view_state(**FRESH, text=probes()[at].text, pair="")
        set_params(FindOptions, against=None, other="", neutral="", clicking="source")


def draw_probe_files(asked: HeadAnswers, other: str, neutral: tuple[str, ...]) -> None:
    """Draw the controls that save the current question as a probe, and that open saved probes."""
    with st.expander(_("Your own questions")):
        name = st.text_input(_("Question name"), key=NAME, max_chars=80)
        source, first, second = (
            asked.view.keys[cell].text for cell in (asked.words.source, asked.words.first, asked.words.second)
        )
        now = Probe(name or source, asked.view.trace.text, source, (first, second), other, neutral)
        mine = [probe for probe in st.session_state.get(OWN, ()) if probe.text != now.text]
        download_button(
            _("Save the questions"),
            dump_probes([*mine, now]),
            "headlight-probes.json",
            _("This question and those you opened."),
            kind="application/json",
        )
        st.file_uploader(
            _("Open questions"),
            type="json",
            key=UPLOAD,
            on_change=_open,
            max_upload_size=5,
            help=_("A file of questions saved here"),
        )
        if problem := st.session_state.pop(PROBLEM, ""):
            show_notice(problem)


def _open() -> None:
    uploaded = st.session_state[UPLOAD]
    if uploaded is None:
        return
    try:
        st.session_state[OWN] = parse_probes(uploaded.getvalue())
    except ValueError as error:
        st.session_state[PROBLEM] = error_message(error)


OTHER, NEUTRAL = "find_other", "find_neutral"


def how_to_read() -> None:
    """Draw the help text."""
    draw_reading_help(
        _(
            "- A head in which a pronoun attends to its noun may resolve the pronoun. Does it flip if one "
            "word changes the meaning? Neutral rewordings show how many heads flip by chance.\n"
            "- Attention to a word is summed over its tokens, from it averaged "
            "([arXiv:1906.04341](https://arxiv.org/abs/1906.04341))."
        )
    )


def texts(found: FindOptions, probe: Probe | None) -> tuple[str, tuple[str, ...]]:
    """Draw text fields for the changed text and for neutral rewordings, and return their contents.

    The changed text has another meaning; rewordings keep the meaning and show how many heads change by chance. By
    default they are the texts of the prepared question ``probe``. At most 32 rewordings are used.
    """
    left, right = st.columns(2)
    st.session_state[OTHER] = found.other or (probe.other if probe else "")
    st.session_state[NEUTRAL] = found.neutral or ("\n".join(probe.neutral) if probe else "")
    other = left.text_area(
        _("Changed text"),
        key=OTHER,
        height=120,
        on_change=lambda: set_params(FindOptions, other=st.session_state[OTHER]),
        help=_("One word changed so that the meaning changes, such as wide for tired."),
    )
    neutral = right.text_area(
        _("Neutral rewordings"),
        key=NEUTRAL,
        height=120,
        on_change=lambda: set_params(FindOptions, neutral=st.session_state[NEUTRAL]),
        help=_("One rewording per line."),
    )
    return other.strip(), tuple(line.strip() for line in neutral.splitlines() if line.strip())[:32]


def draw(choice: ViewState, trace: Trace, probe: Probe | None, row: DeltaGenerator) -> None:
    """Draw the question, its answer in this text, and the comparison with the other texts.

    The question is which heads prefer the first candidate. ``row`` is the container for its widgets.
    """
    found = get_params(FindOptions)
    view = View(trace, words=True)
    if not has_enough_words(view):
        show_notice(
            _("Type at least three words."),
            role="status",
        )
        return
    words, notes = words_of(choice, found.against, view, probe)
    for note in notes:
        show_notice(note, role="status")
    asked = ask_heads(view, words, found.inward, choice)
    pick_words(asked, found, row)
    pick_strength(choice, row)
    answer(asked, choice)
    if probe is not None and probe.note:
        show_notice(probe.note, role="status")
    draw_pronoun_head(trace, strongest_link(asked))
    st.header(_("If one word changes"))
    other, neutral = texts(found, probe)
    again, rest = None, list[HeadAnswers | None]()
    if other:
        request = request_of(choice)
        try:
            with st.spinner(_("Running the model")):
                asked_again = [_with_text(request, text) for text in (other, *neutral)]
                changed, *harmless = map(require_readable, get_backend().traces(asked_again))
            after = View(changed, words=True)
            again = ask_again(asked, after, choice)
            if again is None:
                cells = (words.source, words.first, words.second)
                missing = [cell for cell in cells if find_word(after.keys, view.keys[cell].text) is None]
                names = format_and_list([asked.name(cell) for cell in missing or cells])
                show_notice(_("Keep {words} in the changed text.", words=names))
            else:
                rest = [ask_again(asked, View(one, words=True), choice) for one in harmless]
                compare(asked, again, rest, choice)
        except UserError as refusal:
            show_error(refusal)
    download_button(
        _("Save as CSV"),
        answers_csv(asked, again),
        "headlight-find.csv",
        _("All digits"),
        provenance=answers_provenance(asked, again, [one for one in rest if one is not None]),
    )
    draw_probe_files(asked, other, neutral)
    how_to_read()


def _with_text(request: TraceRequest, text: str) -> TraceRequest:
    return replace(request, text=text, pair=None, cut=None)


def draw_view() -> None:
    """Draw the view Find in the page."""
    chosen = get_view_state()
    compose(chosen, kind_of(chosen), draw_more=pick_direction)
    row = control_row("find")
    probe_now = pick_probe(chosen, row)
    read_now = read_trace(chosen)
    if read_now is not None:
        draw(chosen, read_now, probe_now, row)
