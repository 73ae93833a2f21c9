"""Which heads attend where? All heads small, one large, and the text itself as the way in."""

from functools import partial

import streamlit as st

from attention.trace import Trace
from ui.choice import Choice
from ui.composing import compose
from ui.examples import example_of
from ui.measures import measures
from ui.models import kind_of
from ui.parts import pick_part
from ui.reading import id_of, read
from ui.refusals import say
from ui.routes import PREFIX
from ui.selection import changes, select, settle
from ui.session import choose, current
from ui.shelf import START, shelf
from viz import explore

LARGEST_FILE = 380_000_000  # bytes; what is opened again may have 400 MB (.streamlit/config.toml)
TOO_LARGE = "This text is too long: a file of it would be larger than what can be opened again"
KEY, AGAIN = "explore", "explore_again"
SAVE = "One file with everything computed for this text, to be opened again here or on another machine"


def keep(trace_id: str) -> None:
    """What a click in the component kept becomes the choice, and so the address.

    A click that was made on a text which has been replaced meanwhile is dropped: its tokens are not the new one's.
    """
    selection, trace = st.session_state[KEY].selection, shelf().find(trace_id)
    if isinstance(selection, dict) and trace is not None and trace_id == id_of(current()):
        choose(**changes(selection, shelf().view(trace, settle(current(), trace)[0])))


def fetch_again() -> None:
    """The server had forgotten the trace; this run makes it anew, and another address makes the component ask anew."""
    st.session_state[AGAIN] = st.session_state.get(AGAIN, 0) + 1


def how_to_read() -> None:
    """Three lines for a first-time reader."""
    with st.expander("How to read this"):
        st.markdown(
            "- A **head** gives each token (row) weights over the tokens it looks at (columns); a row sums to one: "
            "the softmax of q · kᵀ, in most models over √d, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).\n"
            "- Click a word to ask where it looks; switch to “is looked at by” for the other direction. The sentence "
            "above the maps says what the numbers say, for the head that is chosen.\n"
            "- A large weight shows where a head reads, not yet what the model does with it "
            "([arXiv:1902.10186](https://arxiv.org/abs/1902.10186), "
            "[arXiv:1908.04626](https://arxiv.org/abs/1908.04626)). Much weight on [CLS], [SEP] or the first token "
            "often means that a head has nothing to do ([arXiv:1906.04341](https://arxiv.org/abs/1906.04341))."
        )


def draw(choice: Choice, trace: Trace) -> None:
    """The component, with everything chosen filled in."""
    look, notes = settle(choice, trace)
    view = shelf().view(trace, look)
    if not view.queries or not view.keys:
        say("All tokens of this text are special tokens, and these are hidden; show them in the sidebar.")
        return
    selection, more = select(choice, view, example_of(trace.text, trace.pair or ""))
    pick_part(choice, trace, look)
    for sentence in notes + more:
        say(sentence, role="status")
    with st.spinner("Drawing every head small"):
        survey = shelf().survey(trace, look)
    query = f"{look.query()}&count={choice.count}&again={START}-{st.session_state.get(AGAIN, 0)}"
    data = explore.payload(view, survey, selection, f"{PREFIX}/{trace.id}", query, choice.count)
    explore.mount(data, KEY, partial(keep, trace.id), fetch_again)
    st.link_button(
        "Save the trace",
        f"{PREFIX}/{trace.id}/trace.safetensors?again={START}",
        help=SAVE if trace.nbytes < LARGEST_FILE else TOO_LARGE,
        icon=":material/save:",
        disabled=trace.nbytes >= LARGEST_FILE,
    )
    how_to_read()
    measures(view, survey, selection["layer"], selection["head"], choice)


st.title("Which heads attend where?")
chosen = current()
compose(chosen, kind_of(chosen))
found = read(chosen)
if found is not None:
    draw(chosen, found)
