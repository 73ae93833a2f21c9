"""Controls of the ready questions (probes), and of files with the reader's own probes."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from i18n import _, error_message
from ui.input.probes import LIBRARY, Probe, dump_probes, parse_probes, probe_of
from ui.pages.find.options import FindOptions
from ui.run.head_answers import HeadAnswers
from ui.run.notices import show_notice
from ui.show.tables import download_button
from ui.state.params import set_params
from ui.state.session import FRESH, set_view_state
from ui.state.view_state import ViewState

PICK, UPLOAD, OWN, PROBLEM = "probe", "probe_file", "own_probes", "probe_problem"
NAME = "probe_name"
MINE = -1  # index for the reader's own text


def probes() -> tuple[Probe, ...]:
    """Return the reader's own probes, then those of the library."""
    mine: tuple[Probe, ...] = st.session_state.get(OWN, ())
    return (*mine, *LIBRARY)


def pick_probe(choice: ViewState, row: DeltaGenerator) -> Probe | None:
    """Draw the control of the probe in ``row``, and return the probe of the current text, if any."""
    known = probes()
    now = probe_of(choice.text, known)
    st.session_state[PICK] = MINE if now is None else known.index(now)
    row.selectbox(
        _("Ready question"),
        range(MINE, len(known)),
        key=PICK,
        format_func=lambda at: _("Your own text") if at == MINE else known[at].title(),
        on_change=_on_pick,
        help=_("A word, two candidates, a changed text and neutral rewordings, written for this page."),
        width=360,
    )
    return now


def _on_pick() -> None:
    at = st.session_state[PICK]
    if at != MINE:
        set_view_state(**FRESH, text=probes()[at].text, pair="")
        set_params(FindOptions, against=None, other="", neutral="", clicking="source")


def draw_probe_files(asked: HeadAnswers, other: str, neutral: tuple[str, ...]) -> None:
    """Draw the controls that save the current question as a probe and open saved probes."""
    with st.expander(_("Your own questions")):
        name = st.text_input(_("Question name"), key=NAME, max_chars=80, help=_("What the list calls it"))
        source, first, second = (
            asked.view.keys[cell].text for cell in (asked.words.source, asked.words.first, asked.words.second)
        )
        now = Probe(name or source, asked.view.trace.text, source, (first, second), other, neutral)
        mine = [probe for probe in st.session_state.get(OWN, ()) if probe.text != now.text]
        download_button(
            _("Save these probes"),
            dump_probes([*mine, now]),
            "headlight-probes.json",
            _("This question and those that you opened, in one file."),
            kind="application/json",
        )
        st.file_uploader(
            _("Open saved probes"),
            type="json",
            key=UPLOAD,
            on_change=_open,
            max_upload_size=5,
            help=_("A file saved here before"),
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
