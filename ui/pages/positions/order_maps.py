"""Maps of the order test, and the effect of the order on every head."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.positions import permute_map
from attention.record import MapRecord
from attention.trace import Trace
from attention.view import View
from i18n import _
from inference.tasks.positions import OrderTest
from inference.text.encoding import Encoding
from ui.input.controls import keep_head
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_matrices
from ui.show.tables import csv_table, download_button, page_provenance
from ui.show.text import format_small
from ui.state.view_state import ViewState
from viz.components.matrices.matrices import MatrixSpec
from viz.figures import head_maps

HEADS = "order_heads"
SIDES = ("new", "moved")
NOTICES = 0.1  # A head is counted if a weight changes by more than this.


def maps(choice: ViewState, trace: Trace, test: OrderTest, layer: int, head: int) -> None:
    """Draw the head's map of the new order and its permuted original map, with and without positions."""
    passes = {"having": (_("With positions"), test.having), "lacking": (_("Without positions"), test.lacking)}
    columns = iter(st.columns(4))
    for key, (name, result) in passes.items():
        here = permute_map(result.text[layer].weights(head), test.order)
        views = [view_of_map(choice, trace, test, map_) for map_ in (result.mixed[layer].weights(head), here)]
        labels = tuple(cell.text for cell in views[0].queries)
        if not labels:
            show_notice(
                _("The text has only special tokens. Show them in View options."),
                role="status",
            )
            return
        shown = [view.weights(0, 0) for view in views]
        limit = max(float(map_.max()) for map_ in shown)
        off = format_small(float(result.differences[layer, head]))
        notes = (
            _("head {layer}-{head}", layer=layer, head=head),
            _("largest difference of a weight: {most}", most=off),
        )
        titles = (_("{name}: new order", name=name), _("{name}: permuted", name=name))
        for side, title, map_, note in zip(SIDES, titles, shown, notes, strict=True):
            with next(columns):  # The cells show no numbers, so that the pair can be compared at a glance.
                sheet = MatrixSpec(title, map_, labels, labels, note, "sequential", limit)
                draw_matrices([sheet], f"order_{key}_{side}", numbers=False)
    st.caption(
        _(
            "Rows attend to columns, both in the new order. Left of each pair: the new order was run; right: "
            "the original map, permuted."
        )
    )


def view_of_map(choice: ViewState, trace: Trace, test: OrderTest, weights: FloatArray) -> View:
    """Return a view of a map over the permuted tokens, with the reader's view options."""
    row = trace.source
    mixed = Encoding(row, row.segments).pick(test.order).row
    one = replace(trace, source=mixed, target=None, parts={test.part: (MapRecord(weights[None]),)})
    return View(one, test.part, choice.words, choice.special, choice.renormalise)


def all_heads(test: OrderTest, selected: tuple[int, int]) -> None:
    """Draw the effect of the order on every head in an expander; a click selects a head."""
    with st.expander(_("Order sensitivity")):
        show_notice(_describe_noticing(test), role="status")
        figure = head_maps.head_map(
            test.having.differences,
            theme(),
            _("Order sensitivity"),
            _("largest difference of a weight"),
            selected=selected,
        )
        draw_chart(figure, HEADS, on_click=keep_head)
        st.caption(_("With positions. Click a cell to select its head."))
        download_button(
            _("Save the differences"),
            differences_csv(test),
            "headlight-order.csv",
            _("With and without positions; layers and heads from 0"),
            provenance=page_provenance(),
        )


def _describe_noticing(test: OrderTest) -> str:
    found = test.having.differences
    many = int((found > NOTICES).sum())
    return _(
        "With positions, {many} of {heads} heads change some weight by more than {least}.",
        many=many,
        heads=found.size,
        least=NOTICES,
    )


def differences_csv(test: OrderTest) -> str:
    """Return a CSV of every head's largest difference, with and without positions."""
    rows = (
        (layer, head, float(having), float(test.lacking.differences[layer, head]))
        for (layer, head), having in np.ndenumerate(test.having.differences)
    )
    return csv_table(("layer", "head", "with positions", "without positions"), rows)
