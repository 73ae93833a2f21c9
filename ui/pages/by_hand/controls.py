"""What a reader may change in the small example: which one, its numbers, its sizes, and files of it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from attention.by_hand import Worked
from inference import Refusal
from ui.pages.by_hand.as_csv import pack, read, unpack, write
from ui.pages.by_hand.example import (
    LARGEST,
    LONGEST_NAME,
    MATRICES,
    TOKENS,
    WIDTH,
    Example,
    divisors,
    edited,
    example_of,
    preset_of,
    resize,
)
from ui.pages.by_hand.options import PRESETS, ByHand
from ui.run.refusals import say
from ui.show.saving import save
from ui.state.options import choose_own, own

BASE, MADE, ROUND = "by_hand_base", "by_hand_made", "by_hand_round"
PROBLEM, FILE = "by_hand_problem", "by_hand_file"
PRESET, HEADS, CAUSAL, SHOWN = "by_hand_preset", "by_hand_heads", "by_hand_causal", "by_hand_shown"
SIZES = {
    "by_hand_tokens": ("Tokens", TOKENS, "Rows of X. A new token is a row of zeros."),
    "by_hand_columns": ("Columns of X", WIDTH, "Length of each input vector, and rows of W_Q, W_K and W_V."),
    "by_hand_width": ("Columns of W (h · d_k)", WIDTH, "Columns of W_Q, W_K and W_V, which the heads share."),
}
TITLES = {"x": "X", "w_q": "W_Q", "w_k": "W_K", "w_v": "W_V"}
CSV = (
    "One CSV file with all the matrices, a line per row: the matrix's name, the row's name, the numbers. "
    "Q, K, V and all that follows stand below the inputs."
)
OPEN = (
    "A CSV file like the one that is saved here. Each line: X, W_Q, W_K or W_V, then the row's name, then its numbers."
)


def chosen() -> tuple[ByHand, Example, list[str]]:
    """The address's options and its example, and a sentence where its numbers could not be read."""
    options = own(ByHand)
    if not options.numbers:
        return options, example_of(options.preset), []
    try:
        return options, unpack(options.numbers), []
    except Refusal as refusal:
        return options, example_of(options.preset), [refusal.message]


def pick(options: ByHand, example: Example) -> None:
    """Which example, how many heads share it, and whether tokens see what follows them."""
    state = st.session_state
    state[PRESET], state[HEADS], state[CAUSAL] = options.preset, options.heads, options.causal
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Example",
            [preset["name"] for preset in PRESETS],
            key=PRESET,
            format_func=lambda name: preset_of(name)["title"],
            on_change=lambda: _choose(preset=state[PRESET], numbers="", heads=1),
            help="Numbers to begin with; each of them can be changed",
            width=300,
        )
        st.selectbox(
            "Heads (h)",
            divisors(example.width),
            key=HEADS,
            on_change=lambda: _choose(heads=state[HEADS], shown=0),
            help="Heads share the columns of W_Q, W_K and W_V: h heads of d_k columns each",
            width=110,
        )
        st.checkbox(
            "Causal mask",
            key=CAUSAL,
            on_change=lambda: _choose(causal=state[CAUSAL]),
            help="On: a token sees itself and what stands before it, as in a decoder. Off: all, as in an encoder",
        )
        st.button(
            "Start over",
            on_click=_choose,
            kwargs={"numbers": "", "heads": 1},
            help="The example's own numbers again",
            disabled=not options.numbers and options.heads == 1,
        )


def pick_head(options: ByHand) -> None:
    """Which head's scores are shown, where there are several."""
    if options.heads == 1:
        return
    st.session_state[SHOWN] = options.shown
    st.radio(
        "Head shown",
        list(range(options.heads)),
        key=SHOWN,
        format_func=lambda head: str(head + 1),
        horizontal=True,
        on_change=lambda: _choose(shown=st.session_state[SHOWN]),
        help="Each head compares its own columns of Q and K and has weights of its own",
    )


def tables(options: ByHand, example: Example) -> None:
    """The four matrices to type into.

    A table keeps its first numbers while it is typed into, so that the cursor stays; numbers that come from elsewhere
    (a preset, a file, the back button) begin a new round of tables.
    """
    state = st.session_state
    address = (options.preset, options.numbers)
    if state.get(MADE) != address:
        state[BASE], state[MADE], state[ROUND] = example, address, state.get(ROUND, 0) + 1
    for name in MATRICES:
        matrix = getattr(state[BASE], name)
        frame = pd.DataFrame(matrix, columns=[str(column + 1) for column in range(matrix.shape[1])])
        if name == "x":
            frame.insert(0, "token", state[BASE].tokens)
        frame.index += 1
        st.caption(f"{TITLES[name]}, {matrix.shape[0]} × {matrix.shape[1]}")
        st.data_editor(frame, key=_key(name), on_change=_type, hide_index=name == "x", column_config=_columns(frame))


def sizes(example: Example) -> None:
    """How many tokens and columns there are."""
    for (key, (label, (least, most), help_text)), size in zip(
        SIZES.items(), (*example.x.shape, example.width), strict=True
    ):
        st.session_state[key] = size
        st.number_input(label, least, most, key=key, on_change=_resize, help=help_text)


def files(example: Example, worked: Worked) -> None:
    """The example as a file, both ways."""
    content = write(example, worked).encode("utf-8-sig")
    save("Save as CSV", content, "headlight-by-hand.csv", CSV)
    st.file_uploader("Open a CSV", type="csv", key=FILE, on_change=_open, help=OPEN)
    for sentence in st.session_state.pop(PROBLEM, []):
        say(sentence)


def _choose(**changes: Any) -> None:
    """A pair belongs to its numbers; with others the largest weight is worked out again."""
    choose_own(ByHand, **{"row": None, "column": None, **changes})


def _key(name: str) -> str:
    return f"by_hand_{name}_{st.session_state[ROUND]}"


def _columns(frame: pd.DataFrame) -> dict[str, Any]:
    number = st.column_config.NumberColumn(required=True, default=0.0, min_value=-LARGEST, max_value=LARGEST, width=58)
    token = st.column_config.TextColumn("token", required=True, max_chars=LONGEST_NAME, width=80)
    return {name: token if name == "token" else number for name in frame.columns}


def _keep(example: Example) -> None:
    """These numbers from now on; those of the preset need no room in the address."""
    options = own(ByHand)
    heads = options.heads if example.width % options.heads == 0 else 1
    _choose(numbers="" if example == example_of(options.preset) else pack(example), heads=heads)


def _type() -> None:
    edits = {name: st.session_state[_key(name)]["edited_rows"] for name in MATRICES}
    _keep(edited(st.session_state[BASE], edits))
    options = own(ByHand)
    st.session_state[MADE] = (options.preset, options.numbers)


def _resize() -> None:
    _keep(resize(chosen()[1], *(int(st.session_state[key]) for key in SIZES)))


def _open() -> None:
    uploaded = st.session_state[FILE]
    if uploaded is None:
        return
    try:
        _keep(read(uploaded.getvalue()))
    except Refusal as refusal:
        st.session_state[PROBLEM] = [refusal.message]
