"""Change and go on: other numbers at a stage, and what the pass then ends with."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from inference import Refusal
from inference.questions.changed import Followed
from inference.questions.whole_pass import Stage
from ui.pages.whole_pass.asking import Asked
from ui.pages.whole_pass.options import CHANGES, Options
from ui.run.refusals import say, show
from ui.show.csv_table import csv_table
from ui.show.saving import save
from ui.state.options import choose_own

BLANKS = ("[MASK]", "<mask>")


def change(asked: Asked, stage: Stage, options: Options, row: int, column: int) -> None:
    """What is changed, to what, and how the pass ends then."""
    left, middle, right = st.columns([2, 1, 2], vertical_alignment="bottom")
    st.session_state["pass_change"] = options.change
    left.segmented_control(
        "Change and go on",
        list(CHANGES),
        key="pass_change",
        required=True,
        format_func=CHANGES.__getitem__,
        on_change=lambda: choose_own(Options, change=st.session_state["pass_change"]),
        help="What is changed at this stage; all that comes after is computed by the model from there",
    )
    if not options.change:
        return
    st.session_state["pass_to"], st.session_state["pass_lender"] = options.to, options.lender
    middle.text_input(
        "To",
        key="pass_to",
        on_change=lambda: choose_own(Options, to=st.session_state["pass_to"]),
        help="A number such as 0 or -1.5",
    )
    right.text_input(
        "Or to what it is in this text",
        key="pass_lender",
        on_change=lambda: choose_own(Options, lender=st.session_state["pass_lender"]),
        help="Another text with as many pieces; empty: the number beside",
    )
    try:
        to = number_of(options.to)
        with st.spinner("Going on"):
            found = asked.changed(stage, options, row, column, to, end_row(asked, row))
    except Refusal as refusal:
        show(refusal)
        return
    _told(asked, found, end_row(asked, row))


def number_of(typed: str) -> float:
    """A number as people type it; raises Refusal for what is none.

    >>> number_of(" -1.5e2 ")
    -150.0
    """
    try:
        found = float(typed.strip())
    except ValueError:
        found = math.nan
    if not abs(found) < 1e6:
        raise Refusal(f"“{typed[:40]}” is no number between -1,000,000 and 1,000,000; write one such as 0 or -1.5.")
    return found


def end_row(asked: Asked, row: int) -> int:
    """The token whose end is told: a decoder's last, a blank, else the one that is looked at."""
    tokens = asked.tokens(asked.passed.stages[-1].side)
    if asked.passed.stages[-1].side == "decoder":
        return len(tokens) - 1
    return next((at for at, token in enumerate(tokens) if token in BLANKS), row)


def _told(asked: Asked, found: Followed, at: int) -> None:
    tokens = asked.tokens(asked.passed.stages[-1].side)
    of = f" for token {at} “{tokens[at]}”" if len(asked.passed.spread[asked.passed.stages[-1].number]) > 1 else ""
    before, after = found.ends[0], max(found.ends, key=lambda end: end.after)
    same = before.name == after.name
    say(
        f"{found.changed:,} numbers are changed. The pass ended{of} with {before.before:.3f} for “{before.name}”; now "
        f"{'still ' if same else ''}with {after.after:.3f} for “{after.name}”. The largest change of one number at "
        f"its end: {found.moved:.3g}.",
        role="status",
    )
    table = pd.DataFrame(
        {
            "what": [end.name for end in found.ends],
            "before": [end.before for end in found.ends],
            "after": [end.after for end in found.ends],
        }
    )
    st.dataframe(table, hide_index=True, key="pass_ends")
    save(
        "Save as CSV",
        csv_table(list(table), table.itertuples(index=False)),
        "changed.csv",
        "How the pass ends before and after",
        told=True,
    )
