"""The view Find: heads that link a source word to a candidate, in a text and in its variants."""

from dataclasses import replace

import streamlit as st

from attention.trace import Trace
from attention.view import View
from i18n import _
from inference import TraceRequest, UserError
from ui.input.composing import compose
from ui.input.probes import Probe
from ui.input.unknown_words import require_readable
from ui.pages.find.descriptions import answers_csv
from ui.pages.find.library import draw_probe_files, pick_probe
from ui.pages.find.options import FindOptions
from ui.pages.find.question import answer, compare, options, pick_strength, pick_words
from ui.pages.find.words import has_enough_words, words_of
from ui.run.head_answers import ask_again, ask_heads
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.services import get_backend
from ui.run.traces import read_trace, request_of
from ui.show.pronoun_head import draw_pronoun_head
from ui.show.reading_help import reading_help
from ui.show.tables import download_button, page_provenance
from ui.state.params import set_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState

OTHER, NEUTRAL = "find_other", "find_neutral"


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- A head that gives *animal* much weight from *it* looks as if it resolved the pronoun. Whether it "
                "does is seen when the meaning changes and the words stay: does its preference turn?\n"
                "- Any change of a text turns some heads. The count for changes that should not matter says how many "
                "flips to expect from the wording alone.\n"
                "- Attention is where a head reads, not yet what the model does with it "
                "([arXiv:1902.10186](https://arxiv.org/abs/1902.10186)); the page Cause removes heads and looks. The "
                "rule for words of several pieces is that of [arXiv:1906.04341](https://arxiv.org/abs/1906.04341)."
            )
        )


def texts(found: FindOptions, probe: Probe | None) -> tuple[str, tuple[str, ...]]:
    """Draw the fields of the changed text and of the harmless changes; return both.

    By default they are those of the probe. At most 32 harmless changes are used.
    """
    left, right = st.columns(2)
    st.session_state[OTHER] = found.other or (probe.other if probe else "")
    st.session_state[NEUTRAL] = found.neutral or ("\n".join(probe.neutral) if probe else "")
    other = left.text_area(
        _("The text with one thing changed"),
        key=OTHER,
        height=120,
        on_change=lambda: set_params(FindOptions, other=st.session_state[OTHER]),
        help=_("The same sentence with one thing changed on which the answer may hang, such as wide for tired."),
    )
    neutral = right.text_area(
        _("Changes that should not matter, a line each"),
        key=NEUTRAL,
        height=120,
        on_change=lambda: set_params(FindOptions, neutral=st.session_state[NEUTRAL]),
        help=_("The first sentence with another word changed, which leaves the answer as it was."),
    )
    return other.strip(), tuple(line.strip() for line in neutral.splitlines() if line.strip())[:32]


def draw(choice: ViewState, trace: Trace, probe: Probe | None) -> None:
    """Draw the words, the answer, and the comparison with the other texts."""
    found = options()
    view = View(trace, words=True)
    if not has_enough_words(view):
        show_notice(
            _("This question needs three words: one that looks, and two it may look at. Type a longer text."),
            role="status",
        )
        return
    words, notes = words_of(choice, found.against, view, probe)
    for note in notes:
        show_notice(note, role="status")
    asked = ask_heads(view, words, found.inward, choice)
    pick_words(asked, found)
    pick_strength(choice)
    answer(asked, choice)
    draw_pronoun_head(trace)
    st.subheader(_("And when one word changes?"))
    other, neutral = texts(found, probe)
    again = None
    if other:
        request = request_of(choice)
        try:
            with st.spinner(_("Reading the other texts")):
                asked_again = [_with_text(request, text) for text in (other, *neutral)]
                changed, *harmless = map(require_readable, get_backend().traces(asked_again))
            again = ask_again(asked, View(changed, words=True), choice)
            if again is None:
                show_notice(
                    _("The other text has no counterpart of all three words. Keep them, and change another word.")
                )
            else:
                rest = [ask_again(asked, View(one, words=True), choice) for one in harmless]
                compare(asked, again, rest)
        except UserError as refusal:
            show_error(refusal)
    download_button(
        _("Save the table"),
        answers_csv(asked, again),
        "headlight-find.csv",
        _("Every head's weights as CSV, all digits"),
        provenance=page_provenance(),
    )
    draw_probe_files(asked, other, neutral)
    how_to_read()


def _with_text(request: TraceRequest, text: str) -> TraceRequest:
    return replace(request, text=text, pair=None, cut=None)


def draw_view() -> None:
    """Draw the view."""
    chosen = get_view_state()
    probe_now = pick_probe(chosen)
    compose(chosen, kind_of(chosen))
    read_now = read_trace(chosen)
    if read_now is not None:
        draw(chosen, read_now, probe_now)
