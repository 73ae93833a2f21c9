"""Test for induction heads: attention to the token after an earlier copy, on repeated random tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.tokens import bits
from i18n import _, gettext_lazy, translate
from inference.tasks.decoding import DecodingStep, NextToken
from inference.tasks.heads import InductionHeads, InductionScores
from ui.input.controls import bound_widget, head_name, head_of, rank_of
from ui.pages.generate.options import GenerateOptions
from ui.pages.generate.prompt import PROMPTS, new_prompt
from ui.pages.generate.step_attention import keep_on_text
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button, draw_table, model_provenance
from ui.state.params import set_params
from ui.state.session import set_view_state
from ui.state.view_state import ViewState
from viz.figures import head_maps

MAP, CONTROL = "induction_map", "induction_control"
LENGTH, SHORTEST = 25, 2  # tokens in each copy: default and minimum
HALF = 0.5  # share of attention above which a head is counted
LISTED = 10
REPEATS = gettext_lazy("A repeated name")


def draw_induction(choice: ViewState, request: NextToken, step: DecodingStep, options: GenerateOptions) -> None:
    """Draw the results of the test as two maps and a table. Raise UserError if the model cannot answer."""
    longest = (len(step.row) + step.room - 1) // 2  # the model reads two copies and perhaps a start token
    length = max(SHORTEST, min(LENGTH, longest))
    question = InductionHeads(model=request.model, revision=request.revision, length=length, seed=options.sample)
    found = ask_model(question, _("Asking the model"))
    layer, head = head_of(choice, found.matching)
    show_notice(summary(found), role="status")
    name = head_name(layer, head).capitalize()
    show_notice(
        _(
            "{head}: {matching:.2f}, without repetition {control:.2f}; {rank}.",
            head=name,
            matching=found.matching[layer, head],
            control=found.control[layer, head],
            rank=rank_of(found.matching, layer, head),
        ),
        role="status",
    )
    *columns, right = st.columns([3, 3, 4])
    _maps(columns, found, (layer, head))
    st.caption(
        _(
            "{count} texts of {length} distinct random tokens, repeated once. Cells: mean weight of the "
            "second copy on the token after the earlier copy "
            "([arXiv:2209.11895](https://arxiv.org/abs/2209.11895)). Click a head to shade the text.",
            count=question.count,
            length=length,
        )
    )
    with right:
        _buttons(found)
        _table(found)


def summary(found: InductionScores) -> str:
    """Describe the best head, the number of induction heads, and the loss in both copies."""
    layer, head = np.unravel_index(int(np.nanargmax(found.matching)), found.matching.shape)
    name = head_name(int(layer), int(head)).capitalize()
    many = int((found.matching > HALF).sum())
    return _(
        "{head} puts {matching:.2f} of its attention on the token that followed the same token before (uniform:"
        " {even:.2f}); {number} of {heads} heads put more than half there. Surprisal: {first:.1f} bits in the first"
        " copy, {second:.1f} in the second.",
        head=name,
        matching=found.matching[layer, head],
        even=found.even,
        number=many,
        heads=int(np.isfinite(found.matching).sum()),
        first=bits(-found.losses[0]),
        second=bits(-found.losses[-1]),
    )


def _maps(columns: Sequence[Any], found: InductionScores, selected: tuple[int, int]) -> None:
    given: list[tuple[str, str, FloatArray]] = [
        (MAP, _("Repeated"), found.matching),
        (CONTROL, _("Not repeated"), found.control),
    ]
    for column, (key, title, values) in zip(columns, given, strict=True):
        figure = head_maps.head_map(values, theme(), title, _("weight"), selected=selected, limit=1)
        draw_chart(figure, key, place=column, on_click=keep_on_text, about=model_provenance)


def _buttons(found: InductionScores) -> None:
    layer, head = np.unravel_index(int(np.nanargmax(found.matching)), found.matching.shape)

    def try_it() -> None:
        new_prompt(PROMPTS[REPEATS])
        set_view_state(layer=int(layer), head=int(head))
        set_params(GenerateOptions, show="next", over="head")

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            _("Try best head"),
            on_click=try_it,
        )
        bound_widget(GenerateOptions, "sample", st.number_input, min_value=0, max_value=9_999_999, step=1, width=110)


def _table(found: InductionScores) -> None:
    order = np.argsort(-found.matching, axis=None)[: int(np.isfinite(found.matching).sum())]  # NaN comes last
    names = (
        gettext_lazy("layer"),
        gettext_lazy("head"),
        gettext_lazy("score"),
        gettext_lazy("not repeated"),
        gettext_lazy("token before"),
        gettext_lazy("first token"),
    )
    values = (found.matching, found.control, found.previous, found.first)
    rows = [
        (int(layer), int(head), *(float(value[layer, head]) for value in values))
        for layer, head in zip(*np.unravel_index(order, found.matching.shape), strict=True)
    ]
    draw_table(
        {translate(name): [row[at] for row in rows[:LISTED]] for at, name in enumerate(names)},
        key="induction_table",
    )
    st.caption(
        _(
            "The {heads} best heads; the file has all.",
            heads=min(LISTED, len(rows)),
        )
    )
    download_button(
        _("Save as CSV"),
        csv_table(names, rows),
        "headlight-induction.csv",
        _("All digits"),
        provenance=model_provenance(),
    )
