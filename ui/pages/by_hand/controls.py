"""Widgets for the small example: its preset, its numbers, its sizes, and CSV files."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pandas as pd
import streamlit as st

from attention.toy_example import ToyExample
from i18n import _, gettext_lazy, translate
from inference import UserError
from ui.input.controls import format_shortest
from ui.pages.by_hand.as_csv import pack, read, unpack, write
from ui.pages.by_hand.example import (
    LONGEST_NAME,
    MATRICES,
    NAMES,
    PRESET_TITLES,
    TITLES,
    TOKENS,
    WIDTH,
    ByHandOptions,
    Example,
    apply_table_edits,
    divisors,
    example_of,
    preset_of,
    resize,
)
from ui.run.notices import show_notice
from ui.show.tables import download_button
from ui.state.params import get_params, set_params

BASE, MADE, ROUND = "by_hand_base", "by_hand_made", "by_hand_round"
PROBLEM, FILE = "by_hand_problem", "by_hand_file"
LINKED, WRITTEN = "by_hand_linked", "by_hand_written"  # options of a link; numbers that this page wrote to the address
PRESET, HEADS, SHOWN = "by_hand_preset", "by_hand_heads", "by_hand_shown"
SWITCHES = {
    "causal": (
        gettext_lazy("Causal mask"),
        gettext_lazy("Hides later tokens, as in a decoder"),
    ),
    "scaled": (
        gettext_lazy("Over √d_k"),
        gettext_lazy("Off: no division"),
    ),
    "positions": (
        gettext_lazy("Positions"),
        gettext_lazy("Adds sines and cosines to X"),
    ),
    "onward": (
        gettext_lazy("Rest of the layer"),
        gettext_lazy("Residual sums, LayerNorm, feed-forward"),
    ),
}
SIZES = {
    "by_hand_tokens": (gettext_lazy("Tokens"), TOKENS, gettext_lazy("Rows of X; new ones are zero")),
    "by_hand_columns": (
        gettext_lazy("Columns of X"),
        WIDTH,
        gettext_lazy("Dimension of each input vector"),
    ),
    "by_hand_width": (
        gettext_lazy("Columns of W (h · d_k)"),
        WIDTH,
        gettext_lazy("Columns of W_Q, W_K and W_V, split among heads"),
    ),
    "by_hand_hidden": (
        gettext_lazy("Columns of W_1 (d_ff)"),
        WIDTH,
        gettext_lazy("Width of the feed-forward part"),
    ),
    "by_hand_words": (
        gettext_lazy("Words"),
        TOKENS,
        gettext_lazy("Rows of E, the vocabulary"),
    ),
}
NAMED = {"x": gettext_lazy("Token"), "e": gettext_lazy("Word")}  # column header for the row names of X and E
FIRST = ("x", "w_q", "w_k", "w_v")  # matrices outside the expander
WRITING = gettext_lazy("Type 0.5, 1,5, 1e2 or 1/3.")
CSV = gettext_lazy("A line per row: matrix, row, numbers")
OPEN = gettext_lazy("A file like the saved one; optional after W_V")


def get_example() -> tuple[ByHandOptions, Example, list[str]]:
    """Return the options, the example, and a list of error messages.

    If the numbers in the address are damaged, the list has a message and the example is that of the preset. Otherwise
    the list is empty.
    """
    options = get_params(ByHandOptions)
    if not options.numbers:
        return options, example_of(options.preset_name), []
    try:
        return options, unpack(options.numbers), []
    except UserError as refusal:
        return options, example_of(options.preset_name), [refusal.message]


def pick(options: ByHandOptions, example: Example) -> None:
    """Draw the widgets for the preset, the number of heads and the options of the example, and the reset button."""
    state = st.session_state
    linked = _linked_options(options, example)
    state[PRESET], state[HEADS] = options.preset if linked is None else "", options.heads
    titles = PRESET_TITLES if linked is None else {"": gettext_lazy("From a link"), **PRESET_TITLES}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            _("Example"),
            list(titles),
            key=PRESET,
            format_func=lambda name: translate(titles[name]),
            on_change=lambda: begin_with(state[PRESET]),
            width=300,
        )
        st.selectbox(
            _("Heads (h)"),
            divisors(example.width),
            key=HEADS,
            on_change=lambda: set_example_params(heads=state[HEADS], shown=0),
            help=_("Each has d_k columns of W_Q, W_K and W_V"),
            width=110,
        )
        for field, (label, help_text) in SWITCHES.items():
            key = f"by_hand_{field}"
            state[key] = getattr(options, field)
            st.checkbox(translate(label), key=key, on_change=_on_switch, args=(field,), help=translate(help_text))
        if linked is None:
            at_start = not options.numbers and options.heads == preset_of(options.preset)["heads"]
            st.button(_("Start over"), on_click=begin_with, args=(options.preset,), disabled=at_start)
        else:
            names = ("numbers", "heads", *SWITCHES)
            at_start = all(getattr(options, name) == getattr(linked, name) for name in names)
            st.button(_("Start over"), on_click=_begin_with_link, args=(linked, options.stage), disabled=at_start)


def _linked_options(options: ByHandOptions, example: Example) -> ByHandOptions | None:
    """Return the options of the link whose numbers the reader began with; None if these are a preset's."""
    state = st.session_state
    before = state.get(LINKED)
    if example == example_of(options.preset_name):
        state[LINKED] = None
    elif options.numbers not in state.get(WRITTEN, ()) and (before is None or options.numbers != before.numbers):
        state[LINKED] = options
    found: ByHandOptions | None = state.get(LINKED)
    return found


def _begin_with_link(linked: ByHandOptions, stage: str) -> None:
    """Reset the small example to the options of a link, at the stage on screen."""
    set_params(ByHandOptions, **{**asdict(linked), "stage": stage})


def begin_with(preset: str) -> None:
    """Reset the small example to the numbers and heads of a preset; for use as a callback."""
    set_example_params(preset=preset, numbers="", heads=preset_of(preset)["heads"], shown=0)


def _on_switch(field: str) -> None:
    set_example_params(**{field: st.session_state[f"by_hand_{field}"]})


def pick_head(options: ByHandOptions) -> None:
    """Draw the widget that selects the head to show, if the example has several heads."""
    if options.heads == 1:
        return
    st.session_state[SHOWN] = options.shown
    st.radio(
        _("Head shown"),
        list(range(options.heads)),
        key=SHOWN,
        format_func=str,
        horizontal=True,
        on_change=lambda: set_example_params(shown=st.session_state[SHOWN]),
    )


def tables(options: ByHandOptions, example: Example) -> None:
    """Draw the editable matrices, and a notice for each cell that is not a number.

    While the reader types, a table keeps its initial numbers, so that the cursor stays in place. Numbers from elsewhere
    (a preset, a file, the back button) create new tables. Cells are text, because a browser's number field drops
    characters that it does not recognise and turns 1,5 into 15.
    """
    state = st.session_state
    address = (options.preset, options.numbers)
    if state.get(MADE) != address:
        state[BASE], state[MADE], state[ROUND] = example, address, state.get(ROUND, 0) + 1
    for problem in apply_table_edits(state[BASE], _edits())[1]:
        show_notice(problem)
    for name in FIRST:
        _table(name)
    st.caption(translate(WRITING))
    with st.expander(_("Further matrices")):
        for name in MATRICES[len(FIRST) :]:
            _table(name)


def _table(name: str) -> None:
    base = st.session_state[BASE]
    matrix = getattr(base, name)
    columns = {
        str(at + 1): [format_shortest(number) for number in column] for at, column in enumerate(matrix.T.tolist())
    }
    frame = pd.DataFrame(columns)
    if name in NAMES:
        frame.insert(0, "name", getattr(base, NAMES[name]))
    frame.index += 1
    rows, wide = matrix.shape
    st.caption(_("{matrix}, {rows} × {columns}", matrix=TITLES[name], rows=rows, columns=wide))
    config = _columns(frame, translate(NAMED.get(name, "")))
    st.data_editor(frame, key=_key(name), on_change=_type, hide_index=name in NAMES, column_config=config)


def sizes(example: Example) -> None:
    """Draw the widgets that change the sizes of the matrices."""
    found = (*example.x.shape, example.width, example.w_1.shape[1], len(example.words))
    for (key, (label, (least, most), help_text)), size in zip(SIZES.items(), found, strict=True):
        st.session_state[key] = size
        st.number_input(translate(label), least, most, key=key, on_change=_resize, help=translate(help_text))


def files(example: Example, found: ToyExample) -> None:
    """Draw the widgets that save and open the example as a CSV file."""
    content = write(example, found).encode("utf-8-sig")
    download_button(_("Save as CSV"), content, "headlight-by-hand.csv", translate(CSV))
    st.file_uploader(_("Open a file"), type="csv", key=FILE, on_change=_open, max_upload_size=1, help=translate(OPEN))
    for problem in st.session_state.pop(PROBLEM, []):
        show_notice(problem)


def set_example_params(**changes: Any) -> None:
    """Set options of the page, and clear the selected pair and cell unless ``changes`` set them.

    The pair is the (query, key) whose weight is calculated. The preset's name is always written to the address, because
    a link without a name was made when another preset was the default.
    """
    options = get_params(ByHandOptions)
    heads = preset_of(options.preset_name)["heads"] if options.is_default else options.heads
    fresh = {"row": None, "column": None, "cell": ""}
    set_params(ByHandOptions, **{**fresh, "preset": options.preset_name, "heads": heads, **changes})


def _key(name: str) -> str:
    return f"by_hand_{name}_{st.session_state[ROUND]}"


def _columns(frame: pd.DataFrame, named: str) -> dict[str, Any]:
    number = st.column_config.TextColumn(required=True, default="0", max_chars=LONGEST_NAME, width=58)
    name = st.column_config.TextColumn(named, required=True, max_chars=LONGEST_NAME, width=80)
    return {column: name if column == "name" else number for column in frame.columns}


def _keep(example: Example) -> None:
    """Write the example's numbers to the address; "" if they equal those of the preset."""
    options = get_params(ByHandOptions)
    heads = preset_of(options.preset_name)["heads"] if options.is_default else options.heads
    heads = heads if heads and example.width % heads == 0 else 1
    numbers = "" if example == example_of(options.preset_name) else pack(example)
    st.session_state.setdefault(WRITTEN, set()).add(numbers)
    set_example_params(numbers=numbers, heads=heads)


def _edits() -> dict[str, Any]:
    """Return the edited cells of the current tables, by matrix."""
    state = st.session_state
    return {name: state[_key(name)]["edited_rows"] for name in MATRICES if _key(name) in state}


def _type() -> None:
    _keep(apply_table_edits(st.session_state[BASE], _edits(), get_example()[1])[0])
    options = get_params(ByHandOptions)
    st.session_state[MADE] = (options.preset, options.numbers)


def _resize() -> None:
    _keep(resize(get_example()[1], *(int(st.session_state[key]) for key in SIZES)))


def _open() -> None:
    uploaded = st.session_state[FILE]
    if uploaded is None:
        return
    try:
        _keep(read(uploaded.getvalue()))
    except UserError as refusal:
        st.session_state[PROBLEM] = [refusal.message]
