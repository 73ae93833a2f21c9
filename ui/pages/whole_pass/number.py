"""A single number of the pass, shown as the sum of its terms."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from attention.stages.terms import row_and_column
from i18n import _
from inference import UserError
from inference.tasks.whole_pass import Opened, Origin, Stage
from ui.pages.whole_pass.inspector import PassInspector
from ui.pages.whole_pass.names import describe_origin, format_terms
from ui.pages.whole_pass.options import WholePassOptions
from ui.run.notices import show_error, show_notice
from ui.show.tables import csv_table, download_button, draw_table, page_provenance
from ui.state.params import set_params


def number(asked: PassInspector, stage: Stage, place: tuple[int, ...], name: str) -> None:
    """Draw the terms of the number at index ``place`` of a stage's result.

    ``name`` is the vocabulary token or class that the number belongs to, or "".
    """
    try:
        with st.spinner(_("Opening the number")):
            opened = asked.open_number(stage, place)
    except UserError as refusal:
        show_error(refusal)
        return
    sum_of = format_terms(opened)
    if name:
        show_notice(_("The chosen number, for “{name}”: {sum}", name=name, sum=sum_of), role="status")
    else:
        show_notice(_("The chosen number: {sum}", sum=sum_of), role="status")
    terms = table(asked, stage, opened)
    draw_table(terms, key="pass_terms")
    rows = ((float(term), *origins) for term, *origins in terms.itertuples(index=False))
    page = csv_table([str(name) for name in terms], rows)
    download_button(_("Save as CSV"), page, "terms.csv", _("The terms of this number"), provenance=page_provenance())
    _draw_origin_picker(asked, opened)


def table(asked: PassInspector, stage: Stage, opened: Opened) -> pd.DataFrame:
    """Return the largest terms of a number as a table, with the value and the source of each factor."""
    by_number = {one.number: one for one in asked.result.stages}

    def at_its_place(origin: Origin) -> str:
        tokens = asked.tokens(by_number[origin.stage].side if origin.stage is not None else stage.side)
        return f"{origin.value:.6g}: {describe_origin(origin, by_number, asked.two, tokens)}"

    rows = [(f"{term.value:.6g}", *(at_its_place(one) for one in term.origins)) for term in opened.terms]
    width = max(map(len, rows), default=1)
    columns = [_("term"), *(_("factor {at}", at=at) for at in range(1, width))]
    padded = [(*row, *[""] * (width - len(row))) for row in rows]
    if opened.left:
        padded.append((f"{opened.rest:.6g}", _("the {left} other terms", left=opened.left), *[""] * (width - 2)))
    return pd.DataFrame(padded, columns=columns)


def _draw_origin_picker(asked: PassInspector, opened: Opened) -> None:
    """Draw a control that opens a factor computed by another stage."""
    by_number = {one.number: one for one in asked.result.stages}
    origins = [one for term in opened.terms for one in term.origins if one.stage is not None]
    if not origins:
        st.caption(_("All factors are in the model file."))
        return

    def option(at: int) -> str:
        if at < 0:
            return _("Stay here")
        one = origins[at]
        assert one.stage is not None
        tokens = asked.tokens(by_number[one.stage].side)
        return f"{one.value:.4g}: {describe_origin(one, by_number, asked.two, tokens)}"

    st.session_state["pass_into"] = -1
    st.selectbox(
        _("Open a factor"),
        [-1, *range(len(origins))],
        key="pass_into",
        format_func=option,
        on_change=lambda: _open_origin(asked, origins[st.session_state["pass_into"]]),
        help=_("Shows that number as a sum; the browser's Back returns here"),
    )


def _open_origin(asked: PassInspector, origin: Origin) -> None:
    at = next(index for index, one in enumerate(asked.result.stages) if one.number == origin.stage)
    row, column = row_and_column(asked.result.stages[at].shape, origin.place)
    set_params(WholePassOptions, stage=at, row=row, column=column, zoom="stage")
