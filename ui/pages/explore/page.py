"""The view Explore: maps of all heads, a large map of the selected head, and the text."""

import streamlit as st

from attention.trace import Trace
from i18n import _, gettext_lazy, translate
from ui.input.composing import compose
from ui.pages.explore.measures import draw_measures, is_unfolded
from ui.pages.explore.variants import draw_variants, link_to_comparison
from ui.pages.explore.why import draw_text_why
from ui.routes.limits import in_language
from ui.routes.traces import PREFIX
from ui.run.page_model import kind_of
from ui.run.services import trace_seal
from ui.run.traces import id_of, read_trace
from ui.show.live_fragment import fragment_state
from ui.show.microscope import draw_microscope
from ui.show.pronoun_head import draw_pronoun_head
from ui.show.reading_help import reading_help
from ui.show.why_head import is_open
from ui.state.session import get_view_state
from ui.state.view_state import ViewState

WHAT = gettext_lazy(
    "A language model reads with many **heads**. For each word, a head decides how much to attend to every other word."
)
LARGEST_FILE = 380_000_000  # bytes; uploads are limited to 400 MB in .streamlit/config.toml
TOO_LARGE = gettext_lazy("The text is too long: its file could not be opened again")
SAVE = gettext_lazy("A file with all recorded values, which Headlight can open again")


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- A **head** gives each token (row) a weight for every token it attends to (columns). A row "
                "sums to one: it is the softmax of q · kᵀ / √d in most models "
                "([arXiv:1706.03762](https://arxiv.org/abs/1706.03762)).\n- Rare words are split into "
                "tokens; a token that continues a word begins with ##.\n- A large weight shows where a head "
                "attends, not how the model uses it ([arXiv:1902.10186](https://arxiv.org/abs/1902.10186), "
                "[arXiv:1908.04626](https://arxiv.org/abs/1908.04626)). Much weight on [CLS], [SEP] or the "
                "first token often means that a head has nothing to do "
                "([arXiv:1906.04341](https://arxiv.org/abs/1906.04341))."
            )
        )


def draw(choice: ViewState, trace: Trace) -> None:
    """Draw the microscope, the download of the trace, the help text and the folded measures."""
    shown = draw_microscope(choice, trace, lambda: id_of(get_view_state()), alone=not (is_unfolded() or is_open()))
    if shown is None:
        return
    view, survey, selection = shown
    draw_pronoun_head(trace)
    link_to_comparison(choice)
    draw_text_why(choice, view, selection)
    st.link_button(
        _("Save the trace"),
        f"{PREFIX}/{trace.id}/trace.safetensors?seal={trace_seal(trace.id)}" + in_language(),
        help=translate(SAVE if trace.nbytes < LARGEST_FILE else TOO_LARGE),
        icon=":material/save:",
        disabled=trace.nbytes >= LARGEST_FILE,
    )
    how_to_read()
    draw_measures(view, survey, selection["layer"], selection["head"])


@st.fragment
def draw_text_and_picture() -> None:
    """Draw the text box and the microscope; a new text reruns only this fragment."""
    with fragment_state() as chosen:
        compose(chosen, kind_of(chosen), live=True)
        found = read_trace(chosen, signed=True)
        if found is not None:
            draw_variants(chosen)
            draw(chosen, found)


def draw_view() -> None:
    """Draw the view."""
    st.caption(translate(WHAT))
    draw_text_and_picture()
