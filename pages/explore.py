"""Which heads attend where? All heads small, one large, and the text itself as the way in."""

import streamlit as st

from attention.trace import Trace
from ui.input.composing import compose
from ui.input.models import kind_of
from ui.pages.explore.alone import alone
from ui.pages.explore.measures import measures, unfolded
from ui.routes.reader import in_language
from ui.routes.traces import PREFIX
from ui.run.reading import id_of, read
from ui.run.shelf import seal
from ui.show.microscope import microscope
from ui.show.reading_help import reading_help
from ui.state.choice import Choice
from ui.state.session import current
from wording import _, sentence, told

WHAT = sentence(
    "**Headlight** looks into a language model. A **head** is one of its many small readers: for each word it decides "
    "how much to look at every other word."
)
LARGEST_FILE = 380_000_000  # bytes; what is opened again may have 400 MB (.streamlit/config.toml)
TOO_LARGE = sentence("This text is too long: a file of it would be larger than what can be opened again")
SAVE = sentence("One file with everything computed for this text, to be opened again here or on another machine")


def how_to_read() -> None:
    """Three lines for a first-time reader."""
    with reading_help():
        st.markdown(
            _(
                "- A **head** gives each token (row) weights over the tokens it looks at (columns); a row sums to one: "
                "the softmax of q · kᵀ, in most models over √d, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).\n"
                "- Rare words are cut into pieces; a piece that goes on with a word begins with ##. "
                "Click a word to ask where it looks; switch to “is looked at by” for the other direction. The sentence "
                "above the maps says what the numbers say, for the head that is chosen.\n"
                "- A large weight shows where a head reads, not yet what the model does with it "
                "([arXiv:1902.10186](https://arxiv.org/abs/1902.10186), "
                "[arXiv:1908.04626](https://arxiv.org/abs/1908.04626)). Much weight on [CLS], [SEP] or the first token "
                "often means that a head has nothing to do ([arXiv:1906.04341](https://arxiv.org/abs/1906.04341))."
            )
        )


def beside() -> None:
    """The famous pair, one click away: a link with something in its address begins at the first text."""
    st.page_link(
        "../../pages/compare.py",
        label=_("Side by side: it was too tired | too wide"),
        icon=":material/compare:",
        help=_("The same sentence with one word changed, and what each head makes of it"),
        query_params={"differs": "text"},
    )


def draw(choice: Choice, trace: Trace) -> None:
    """The component, with everything chosen filled in."""
    shown = microscope(choice, trace, lambda: id_of(current()), alone=not unfolded())
    if shown is None:
        return
    view, survey, selection = shown
    st.link_button(
        _("Save the trace"),
        f"{PREFIX}/{trace.id}/trace.safetensors?seal={seal(trace.id)}" + in_language(),
        help=told(SAVE if trace.nbytes < LARGEST_FILE else TOO_LARGE),
        icon=":material/save:",
        disabled=trace.nbytes >= LARGEST_FILE,
    )
    how_to_read()
    measures(view, survey, selection["layer"], selection["head"], choice)


@st.fragment
def look() -> None:
    """The text and its picture: a new text runs this alone."""
    with alone() as chosen:
        compose(chosen, kind_of(chosen))
        beside()
        found = read(chosen, signed=True)
        if found is not None:
            draw(chosen, found)


st.title(_("Which heads attend where?"))
st.caption(told(WHAT))
look()
