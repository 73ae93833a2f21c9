"""Which head links one word to another? Every head asked at once, then again with one word changed."""

from dataclasses import replace

import streamlit as st

from attention.trace import Trace
from attention.view import View
from inference import Refusal, TraceRequest
from ui.input.composing import compose
from ui.input.models import kind_of
from ui.input.unknown_words import readable
from ui.pages.find.asked import ask, ask_again
from ui.pages.find.in_words import table
from ui.pages.find.library import keep, pick_probe
from ui.pages.find.options import Find
from ui.pages.find.probes import Probe
from ui.pages.find.question import answer, compare, options, pick_strength, pick_words
from ui.pages.find.words import enough, words_of
from ui.run.reading import read, request_of
from ui.run.refusals import say, show
from ui.run.shelf import backend
from ui.show.provenance import page_provenance
from ui.show.reading_help import reading_help
from ui.show.saving import save
from ui.state.choice import Choice
from ui.state.options import choose_own
from ui.state.session import current
from wording import _

OTHER, NEUTRAL = "find_other", "find_neutral"


def how_to_read() -> None:
    """Three lines for a first-time reader."""
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


def texts(found: Find, probe: Probe | None) -> tuple[str, tuple[str, ...]]:
    """The other text and the harmless changes, as typed or as the probe has them; boxes to change them."""
    left, right = st.columns(2)
    st.session_state[OTHER] = found.other or (probe.other if probe else "")
    st.session_state[NEUTRAL] = found.neutral or ("\n".join(probe.neutral) if probe else "")
    other = left.text_area(
        _("The text with one thing changed"),
        key=OTHER,
        height=120,
        on_change=lambda: choose_own(Find, other=st.session_state[OTHER]),
        help=_("The same sentence with one thing changed on which the answer may hang, such as wide for tired."),
    )
    neutral = right.text_area(
        _("Changes that should not matter, a line each"),
        key=NEUTRAL,
        height=120,
        on_change=lambda: choose_own(Find, neutral=st.session_state[NEUTRAL]),
        help=_("The first sentence with another word changed, which leaves the answer as it was."),
    )
    return other.strip(), tuple(line.strip() for line in neutral.splitlines() if line.strip())[:32]


def draw(choice: Choice, trace: Trace, probe: Probe | None) -> None:
    """Words, the answer, then the comparison."""
    found = options()
    view = View(trace, words=True)
    if not enough(view):
        say(
            _("This question needs three words: one that looks, and two it may look at. Type a longer text."),
            role="status",
        )
        return
    words, notes = words_of(choice, found.against, view, probe)
    for note in notes:
        say(note, role="status")
    asked = ask(view, words, found.inward, choice)
    pick_words(asked, found)
    pick_strength(choice)
    answer(asked, choice)
    st.subheader(_("And when one word changes?"))
    other, neutral = texts(found, probe)
    again = None
    if other:
        request = request_of(choice)
        try:
            with st.spinner(_("Reading the other texts")):
                asked_again = [_with(request, text) for text in (other, *neutral)]
                changed, *harmless = map(readable, backend().traces(asked_again))
            again = ask_again(asked, View(changed, words=True), choice)
            if again is None:
                say(_("The other text has no counterpart of all three words. Keep them, and change another word."))
            else:
                rest = [ask_again(asked, View(one, words=True), choice) for one in harmless]
                compare(asked, again, rest, choice)
        except Refusal as refusal:
            show(refusal)
    save(
        _("Save the table"),
        table(asked, again, choice.count),
        "headlight-find.csv",
        _("Every head's weights as CSV, all digits"),
        provenance=page_provenance(),
    )
    keep(asked, other, neutral)
    how_to_read()


def _with(request: TraceRequest, text: str) -> TraceRequest:
    return replace(request, text=text, pair=None, cut=None)


st.title(_("Which head links one word to another?"))
chosen = current()
probe_now = pick_probe(chosen)
compose(chosen, kind_of(chosen))
read_now = read(chosen)
if read_now is not None:
    draw(chosen, read_now, probe_now)
