"""The neuron view: which products of query and key make a score."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attention.record import Record
from attention.worked import products
from ui.pages.step_by_step.texts import paper
from ui.pages.step_by_step.weight_picker import Spot, labels, place, window
from ui.run.refusals import say
from ui.show.chart import theme
from ui.show.matrices import draw_matrices
from viz.figures.palette import sides
from viz.sheets.neuron import neuron as sheets

KEYS = 40  # drawn of a long text


def neuron(spot: Spot) -> None:
    """Draw it for the token that looks, for the keys around the chosen one."""
    record = spot.record
    assert isinstance(record, Record)
    query, keys = record.query[spot.head][spot.query], record.key[record.kv_head(spot.head)]
    shown = window(len(keys), KEYS, spot.key)
    weights = record.weights(spot.head, spot.row)[0][shown]
    _sentence(spot, query, keys[spot.key])
    found = sheets(query, keys[shown], record.scale, weights, labels(spot.keys, shown), place(shown, spot.key))
    draw_matrices(found, "neuron", numbers=None)
    hidden = "" if len(shown) == len(keys) else f" {len(shown)} of {len(keys)} keys are drawn, around the chosen one."
    below, above = sides(theme())
    st.caption(
        f"{below.capitalize()} is below zero, {above} above; the framed row is the chosen key. Queries and keys "
        "are as they enter the dot product, after all norms and rotary positions. The view is that of BertViz "
        f"({paper('1906.05714')}).{hidden}"
    )


def _sentence(spot: Spot, query: np.ndarray, key: np.ndarray) -> None:
    who, whom = spot.pieces
    found = products(query, key)
    parts = [f"channel {at} ({one * other:+.2f})" for at, (one, other) in zip(found.channels, found.terms, strict=True)]
    say(
        f"{spot.name}, “{who}” to “{whom}”: q · k = {found.total:.2f}. The largest of its {len(query)} products are "
        f"{', '.join(parts)}; the {found.left} others sum to {found.rest:.2f}.",
        role="status",
    )
