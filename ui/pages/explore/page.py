"""The view Explore: maps of all heads, a large map of the selected head, the text, and folded figures of measures."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention.measures import HeadSummary, attention_received, by_offset, summarize_heads
from attention.trace import Trace
from attention.view import View
from i18n import _, gettext_lazy, translate
from ui.input.composing import compose
from ui.input.controls import head_name
from ui.pages.explore.variants import draw_text_why, draw_variants, link_to_comparison, variants_of
from ui.routes.limits import in_language
from ui.routes.traces import PREFIX
from ui.run.notices import show_notice
from ui.run.page_model import kind_of
from ui.run.services import THUMBNAIL, trace_seal
from ui.run.traces import id_of, read_trace, view_computation
from ui.show.chart import draw_chart, theme
from ui.show.live_fragment import fragment_state
from ui.show.microscope import draw_microscope
from ui.show.pronoun_head import describe_pronoun_links, draw_pronoun_head
from ui.show.sections import draw_reading_help, open_section
from ui.show.why_head import is_open
from ui.state.session import get_view_state
from ui.state.view_state import ViewState
from viz.export import caption
from viz.figures.layers import MapSize, distance_by_layer, entropy_by_layer, offset_profile
from viz.figures.token_bars import received_by_token
from viz.paper.notebook import Computation

KEY = "measures"
REACH = 12  # largest distance in the offset profile, in tokens
WHOLE_MAP = 2048  # queries or keys; larger maps have no figures of single heads
# Code of notebooks.
HEADS = """\
values = summarize_heads(view, size).{measure}
numbers = [*values.ravel(), *values.mean(axis=1), values[layer, head]]"""
OFFSETS = """\
weights = view.weights(layer, head)
numbers = by_offset(weights, min(reach, max(weights.shape) - 1))"""
RECEIVED = "numbers = attention_received(view.weights(layer, head))"
USED = (attention_received, by_offset, summarize_heads)


def is_unfolded() -> bool:
    """Return True if the section with figures of measures is open."""
    return bool(st.session_state.get(KEY, False))


def draw_measures(choice: ViewState, view: View, survey: HeadSummary, layer: int, head: int) -> None:
    """Draw figures that compare the heads by measures such as entropy, in a section that can be opened.

    Nothing is computed while the section is closed. ``survey`` has the measures of all heads; ``layer`` and ``head``
    are the selected head.
    """
    section = open_section(_("Compare measures"), KEY)
    if section is None:
        return
    colours = theme()
    name = head_name(layer, head)
    size = MapSize(len(view.queries), len(view.keys), view.causal)
    chosen = (layer, head)
    every_head, one_head = partial(caption, view), partial(caption, view, layer, head)

    def computation_by(code: str) -> Computation | None:
        names = {"layer": layer, "head": head, "size": THUMBNAIL, "reach": REACH}
        return view_computation(choice, view, code, **names, **{used.__name__: used for used in USED})

    with section:
        left, right = st.columns(2)
        figure = entropy_by_layer(survey.entropy, size, colours, selected=chosen)
        computation = computation_by(HEADS.format(measure="entropy"))
        draw_chart(figure, "entropy", place=left, about=every_head, computation=computation)
        if view.part != "cross":  # the place of a target token and of a source token are no distance apart
            figure = distance_by_layer(survey.distance, size, colours, selected=chosen)
            computation = computation_by(HEADS.format(measure="distance"))
            draw_chart(figure, "distance", place=right, about=every_head, computation=computation)
        if max(size.queries, size.keys) > WHOLE_MAP:
            show_notice(
                _("The limit for figures is {most} tokens.", most=WHOLE_MAP),
                role="status",
            )
            return
        weights = view.weights(layer, head)
        if view.part != "cross":
            shares = by_offset(weights, min(REACH, max(weights.shape) - 1))
            figure = offset_profile(shares, colours, name)
            draw_chart(figure, "profile", place=left, about=one_head, computation=computation_by(OFFSETS))
        tokens = [cell.label for cell in view.keys]
        figure = received_by_token(attention_received(weights), survey.received, tokens, colours, name)
        draw_chart(figure, "received", place=right, about=one_head, computation=computation_by(RECEIVED))


WHAT = gettext_lazy("A model has many **heads**. Each decides how much a word attends to every other word.")
LARGEST_FILE = 380_000_000  # bytes; uploads are limited to 400 MB in .streamlit/config.toml
SAVE = gettext_lazy("All values, as a Headlight file; up to 380 MB")


def how_to_read() -> None:
    """Draw the help text."""
    draw_reading_help(
        _(
            "- Rows are query tokens, columns key tokens. A row sums to one: in most models, the softmax "
            "of q · kᵀ / √d ([arXiv:1706.03762](https://arxiv.org/abs/1706.03762)).\n"
            "- The **baseline** of a weight is the larger of column mean and positional prior. Even the "
            "largest weight may be below it.\n"
            "- Much weight on [CLS], [SEP] or the first token often marks an idle head "
            "([arXiv:1906.04341](https://arxiv.org/abs/1906.04341))."
        )
    )


def draw(choice: ViewState, trace: Trace) -> None:
    """Draw the microscope, the download of the trace, the help text and the folded measures.

    Above the microscope is the number of heads for each noun of a pronoun, unless a variant of the text has its own
    sentence there.
    """
    above = st.container()
    shown = draw_microscope(choice, trace, lambda: id_of(get_view_state()), alone=not (is_unfolded() or is_open()))
    if shown is None:
        return
    view, survey, selection = shown
    if variants_of(choice) is None and (sentence := describe_pronoun_links(choice, view)):
        with above:
            show_notice(sentence, role="status")
    draw_pronoun_head(trace, (selection["layer"], selection["head"]), scrolls=True)
    link_to_comparison(choice)
    draw_text_why(choice, view, selection)
    st.link_button(
        _("Save the trace"),
        f"{PREFIX}/{trace.id}/trace.safetensors?seal={trace_seal(trace.id)}" + in_language(),
        help=translate(SAVE),
        icon=":material/save:",
        disabled=trace.nbytes >= LARGEST_FILE,
    )
    how_to_read()
    draw_measures(choice, view, survey, selection["layer"], selection["head"])


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
    """Draw the view Explore in the page."""
    st.caption(translate(WHAT))
    draw_text_and_picture()
