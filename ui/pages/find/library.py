"""The library of ready questions on the page: pick one, save the present one, open a file of one's own."""

from __future__ import annotations

import streamlit as st

from ui.pages.find.asked import Asked
from ui.pages.find.options import Find
from ui.pages.find.probes import LIBRARY, Probe, probe_of, read, write
from ui.run.refusals import say
from ui.show.saving import save
from ui.state.choice import Choice
from ui.state.options import choose_own
from ui.state.session import FRESH, choose
from wording import _, said_by, told

PICK, UPLOAD, OWN, PROBLEM = "probe", "probe_file", "own_probes", "probe_problem"
NAME = "probe_name"
MINE = -1  # no ready question


def probes() -> tuple[Probe, ...]:
    """The reader's own first, then the library."""
    mine: tuple[Probe, ...] = st.session_state.get(OWN, ())
    return (*mine, *LIBRARY)


def pick_probe(choice: Choice) -> Probe | None:
    """The select box of ready questions; the probe whose text is shown, if it is one."""
    known = probes()
    now = probe_of(choice.text, known)
    st.session_state[PICK] = MINE if now is None else known.index(now)
    st.selectbox(
        _("Ready question"),
        range(MINE, len(known)),
        key=PICK,
        format_func=lambda at: _("Your own text") if at == MINE else _named(known[at]),
        on_change=_picked,
        help=_(
            "Sentences written for this page: a word, two candidates, the same text with one thing changed, and"
            " changes that should not matter."
        ),
    )
    if now is not None and now.note:
        say(now.note, role="status")
    return now


def _named(probe: Probe) -> str:
    """What the list calls it: what a reader typed as typed."""
    return _("{family}: {name}", family=told(probe.family), name=told(probe.name))


def _picked() -> None:
    at = st.session_state[PICK]
    if at != MINE:
        choose(**FRESH, text=probes()[at].text, pair="")
        choose_own(Find, against=None, other="", neutral="", clicking="source")


def keep(asked: Asked, other: str, neutral: tuple[str, ...]) -> None:
    """Save the question as it stands, and open saved ones."""
    with st.expander(_("Your own questions")):
        name = st.text_input(_("Name of this question"), key=NAME, max_chars=80, help=_("What the list calls it"))
        source, first, second = (
            asked.view.keys[cell].text for cell in (asked.words.source, asked.words.first, asked.words.second)
        )
        now = Probe(name or source, asked.view.trace.text, source, (first, second), other, neutral)
        mine = [probe for probe in st.session_state.get(OWN, ()) if probe.text != now.text]
        save(
            _("Save these probes"),
            write([*mine, now]),
            "headlight-probes.json",
            _("One file with this question and those that you opened, to be opened here again"),
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
            say(problem)


def _open() -> None:
    uploaded = st.session_state[UPLOAD]
    if uploaded is None:
        return
    try:
        st.session_state[OWN] = read(uploaded.getvalue())
    except ValueError as error:
        st.session_state[PROBLEM] = said_by(error)
