"""Step by step page, neuron view: the products of query and key channels behind a score."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attention.record import Record
from attention.walkthrough import products
from i18n import _
from ui.pages.step_by_step.explanations import paper
from ui.pages.step_by_step.weight_picker import WeightPlace, labels, place, window
from ui.run.notices import show_notice
from ui.show.chart import theme
from ui.show.microscope import draw_matrices
from ui.show.text import join_sentences
from viz.figures.theme import sides
from viz.matrix_specs.heads import neuron as sheets

KEYS = 40  # The maximum number of keys in the figure.


def neuron(spot: WeightPlace) -> None:
    """Draw the neuron view for the query token and a window of keys around the chosen key."""
    record = spot.record
    assert isinstance(record, Record)
    query, keys = record.query[spot.head][spot.query], record.key[record.kv_head(spot.head)]
    shown = window(len(keys), KEYS, spot.key)
    weights = record.weights(spot.head, spot.row)[0][shown]
    _sentence(spot, query, keys[spot.key])
    found = sheets(query, keys[shown], record.scale, weights, labels(spot.keys, shown), place(shown, spot.key))
    draw_matrices(found, "neuron", numbers=None)
    below, above = sides(theme())
    st.caption(
        join_sentences(
            _(
                "{below}: negative; {above}: positive. Framed: the selected key.",
                below=below.capitalize(),
                above=above,
            ),
            _("Queries and keys include norms and rotation."),
            _("As in BertViz ({paper}).", paper=paper("1906.05714")),
            "" if len(shown) == len(keys) else _("{shown} of {keys} keys are drawn.", shown=len(shown), keys=len(keys)),
        )
    )


def _sentence(spot: WeightPlace, query: np.ndarray, key: np.ndarray) -> None:
    who, whom = spot.pieces
    found = products(query, key)
    parts = [
        _("channel {channel} ({product:+.2f})", channel=at, product=one * other)
        for at, (one, other) in zip(found.channels, found.terms, strict=True)
    ]
    show_notice(
        _(
            "{head}, “{who}” to “{whom}”: q · k = {total:.2f}. The largest of its {n} products are "
            "{parts}; the {left} others sum to {rest:.2f}.",
            head=spot.name,
            who=who,
            whom=whom,
            total=found.total,
            n=len(query),
            parts=", ".join(parts),
            left=found.left,
            rest=found.rest,
        ),
        role="status",
    )
