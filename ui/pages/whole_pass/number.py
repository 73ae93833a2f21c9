"""One number opened: its sum, where its terms stand, and the way into them."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from attention.stages.rows import spot_of
from inference import Refusal
from inference.questions.whole_pass import Opened, Origin, Stage
from ui.pages.whole_pass.asking import Asked
from ui.pages.whole_pass.names import stands, written
from ui.pages.whole_pass.options import Options
from ui.run.refusals import say, show
from ui.show.csv_table import csv_table
from ui.show.draw_table import draw_table
from ui.show.provenance import page_provenance
from ui.show.saving import save
from ui.state.options import choose_own
from wording import _


def number(asked: Asked, stage: Stage, place: tuple[int, ...], name: str) -> None:
    """The number at a place of a stage's result, opened; ``name``: what it is for, where it is for one piece."""
    try:
        with st.spinner(_("Opening the number")):
            opened = asked.opened(stage, place)
    except Refusal as refusal:
        show(refusal)
        return
    sum_of = written(opened)
    if name:
        say(_("The chosen number, of “{name}”: {sum}", name=name, sum=sum_of), role="status")
    else:
        say(_("The chosen number: {sum}", sum=sum_of), role="status")
    terms = table(asked, stage, opened)
    draw_table(terms, key="pass_terms")
    rows = ((float(term), *origins) for term, *origins in terms.itertuples(index=False))
    page = csv_table([str(name) for name in terms], rows)
    save(
        _("Save the terms as CSV"), page, "terms.csv", _("What the number is the sum of"), provenance=page_provenance()
    )
    _into(asked, opened)


def table(asked: Asked, stage: Stage, opened: Opened) -> pd.DataFrame:
    """The terms, the largest first, and where what they are made of stands."""
    by_number = {one.number: one for one in asked.passed.stages}

    def at_its_place(origin: Origin) -> str:
        tokens = asked.tokens(by_number[origin.stage].side if origin.stage is not None else stage.side)
        return f"{origin.value:.6g}: {stands(origin, by_number, asked.base, asked.two, tokens)}"

    rows = [(f"{term.value:.6g}", *(at_its_place(one) for one in term.origins)) for term in opened.terms]
    width = max(map(len, rows), default=1)
    columns = [_("term"), *(_("made of {at}", at=at) for at in range(1, width))]
    padded = [(*row, *[""] * (width - len(row))) for row in rows]
    if opened.left:
        padded.append((f"{opened.rest:.6g}", _("the {left} other terms", left=opened.left), *[""] * (width - 2)))
    return pd.DataFrame(padded, columns=columns)


def _into(asked: Asked, opened: Opened) -> None:
    """A control that goes on to one of the numbers that another stage made."""
    by_number = {one.number: one for one in asked.passed.stages}
    origins = [one for term in opened.terms for one in term.origins if one.stage is not None]
    if not origins:
        st.caption(_("Nothing of this was computed by another stage: it stands in the file."))
        return

    def option(at: int) -> str:
        if at < 0:
            return _("Stay here")
        one = origins[at]
        assert one.stage is not None
        tokens = asked.tokens(by_number[one.stage].side)
        return f"{one.value:.4g}: {stands(one, by_number, asked.base, asked.two, tokens)}"

    st.session_state["pass_into"] = -1
    st.selectbox(
        _("Open what it is made of"),
        [-1, *range(len(origins))],
        key="pass_into",
        format_func=option,
        on_change=lambda: _go(asked, origins[st.session_state["pass_into"]]),
        help=_("Goes to that number, which opens its own sum; the browser's back button comes back"),
    )


def _go(asked: Asked, origin: Origin) -> None:
    at = next(index for index, one in enumerate(asked.passed.stages) if one.number == origin.stage)
    row, column = spot_of(asked.passed.stages[at].shape, origin.place)
    choose_own(Options, stage=at, row=row, column=column, zoom="stage")
