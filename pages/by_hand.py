"""What does attention do to a small example? Every number of it can be changed, and every step is shown."""

import streamlit as st

from attention.by_hand import Worked, attend
from ui.pages.by_hand import sheets as sheets
from ui.pages.by_hand.controls import chosen, files, pick, pick_head, sizes, tables
from ui.pages.by_hand.example import Example, largest, pair, preset_of, printed_against, settle
from ui.pages.by_hand.options import ByHand
from ui.run.refusals import say
from ui.show.chart import theme
from ui.show.reading_help import reading_help
from ui.state.options import choose_own
from viz.components.matrices import matrices
from viz.figures.palette import sides

COMPARE = "by_hand_compare"
MARKS = (
    "Each cell is one number: {} below zero, {} above, weights from pale (0) to strong (1), on the scale under "
    "each matrix; hover for all its digits. Framed: the pair that is worked out. Click a cell to work out another."
)


def keep_pair() -> None:
    """The pair of tokens whose cell was clicked is worked out."""
    place = matrices.picked(COMPARE)
    if place is not None:
        choose_own(ByHand, row=place[1], column=place[2])


def say_what_is_seen(options: ByHand, example: Example, worked: Worked) -> None:
    """The sentences above the figure, made from its numbers."""
    say(largest(example.tokens, worked, options.shown, options.causal), role="status")
    printed = preset_of(options.preset)["printed"]
    if printed and not (options.numbers or options.causal or options.heads > 1):
        say(printed_against(printed, example.tokens, worked), role="status")


def draw(options: ByHand, example: Example, worked: Worked) -> None:
    """Every step from X to the result."""
    at = pair(options, worked)
    st.markdown("**Project.** $Q = X\\,W_Q \\quad K = X\\,W_K \\quad V = X\\,W_V$")
    matrices.mount(sheets.project(example, worked, options.shown), "by_hand_project")
    st.markdown("**Compare.** $A = \\mathrm{softmax}\\left(Q K^\\top / \\sqrt{d_k}\\right)$, row by row")
    with st.container():  # always there, so that what follows keeps its place on the page
        pick_head(options)
    matrices.mount(sheets.compare(example, worked, options.shown, at), COMPARE, on_pick=keep_pair)
    say(sheets.worked_line(example, worked, options.shown, at), role="status")
    st.markdown("**Mix.** $\\mathrm{head} = A\\,V$, the heads side by side")
    matrices.mount(sheets.mix(example, worked, options.shown, at[0]), "by_hand_mix")
    st.caption(MARKS.format(*sides(theme())))


def how_to_read() -> None:
    """Three lines for a first-time reader."""
    with reading_help():
        st.markdown(
            "- Each token asks with its **query**, is found by its **key** and hands on its **value**: rows of Q, K "
            "and V. A weight is the softmax of query · key over √d_k, the result the values mixed by the weights "
            "([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), equation 1).\n"
            "- Several **heads** share the columns: each compares its own d_k columns and has weights of its own "
            "(section 3.2.2). The **causal mask** sets the scores of later tokens to −∞, and so their weights to 0 "
            "(section 3.2.3).\n"
            "- Left out: the output matrix W_O, which mixes the columns of the result, biases, and positions. Without "
            "positions and without the mask the order of the tokens changes nothing but the order of the rows."
        )


st.title("What does attention do to a small example?")
found, small, problems = chosen()
found, more = settle(found, small)
with st.container():  # always there, so that what follows keeps its place on the page
    for sentence in [*problems, *more]:
        say(sentence, role="status")
pick(found, small)
steps = attend(small.x, small.w_q, small.w_k, small.w_v, found.heads, found.causal)
with st.container():
    say_what_is_seen(found, small, steps)
figures, inputs = st.columns([3, 2], gap="medium")
with figures:
    draw(found, small, steps)
    how_to_read()
with inputs:
    st.markdown("**Change the numbers**")
    tables(found, small)
    with st.expander("Sizes"):
        sizes(small)
    with st.expander("Files"):
        files(small, steps)
