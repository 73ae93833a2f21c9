"""Step by step page: attention with another scale or temperature, or without the mask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.measures import as_shares, entropy
from attention.record import Record
from attention.softmax import change_softmax_rules, spreads
from i18n import _, gettext_lazy, translate
from ui.pages.step_by_step.weight import StepOptions, WeightPlace, chips
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.tables import page_provenance
from ui.state.params import get_params, set_params
from viz.components.token_strip import token_strip
from viz.figures.layers import what_if as figure

COLDEST, HOTTEST = 10, 400  # The limits of the temperature in hundredths.
SAMPLE = 256  # The maximum number of queries for the mean entropy of a head.
LABELLED = 60  # With more tokens, the chips show no weights.
SCALINGS = {
    "none": gettext_lazy("not divided"),
    "root": gettext_lazy("divided by √d_k"),
    "own": gettext_lazy("as the model does"),
}


def what_if(spot: WeightPlace, factor: float) -> None:
    """Draw a row of attention weights by the model's softmax and by a changed one, and the entropy of all heads.

    Widgets change the scaling, the temperature and the mask. ``factor`` is the constant by which the model multiplies
    queries and keys before the dot products.
    """
    record = spot.record
    assert isinstance(record, Record)
    rules = _controls(record, factor)
    other = change_softmax_rules(
        record,
        scale=_scale(record, rules.scaling, factor),
        temperature=rules.percent / 100,
        masked=rules.masked or not _has_hidden_keys(record),
    )
    before, after = (kind.weights(spot.head, spot.row)[0] for kind in (record, other))
    _sentence(spot, before, after)
    titles = {
        "before": _("As the model computes: {bits:.2f} bits", bits=_bits(before)),
        "after": _("Under these rules: {bits:.2f} bits", bits=_bits(after)),
    }
    for name, weights in (("before", before), ("after", after)):
        token_strip.mount(_chips(spot, weights), f"what_if_{name}", title=titles[name])
    rows = np.unique(np.linspace(0, record.queries - 1, min(record.queries, SAMPLE)).astype(int))
    drawn = figure(spreads(record, rows), spreads(other, rows), theme(), head=spot.head)
    hides = "yes" if rules.masked else "no"
    changed = {"scaling": rules.scaling, "temperature": f"{rules.percent / 100:g}", "masked": hides}
    place = {"stack": spot.part, "layer": spot.layer, "head": spot.head, "queries": f"{len(rows)} of {record.queries}"}
    draw_chart(drawn, "what_if_heads", about=lambda: page_provenance() | place | changed)
    st.caption(
        _(
            "Mean over {n} of {all} tokens; larger: the selected head. The model was not trained for this rule.",
            n=len(rows),
            all=record.queries,
        )
    )


def _controls(record: Record, factor: float) -> StepOptions:
    rules = get_params(StepOptions)
    left, middle, right = st.columns(3)
    scaling = _scaling(left, rules, _distinct_scalings(record, factor))
    st.session_state["what_if_percent"] = min(max(rules.percent, COLDEST), HOTTEST) / 100
    middle.slider(
        _("Temperature"),
        COLDEST / 100,
        HOTTEST / 100,
        step=0.05,
        key="what_if_percent",
        on_change=lambda: set_params(StepOptions, percent=round(100 * st.session_state["what_if_percent"])),
        help=_("Divides the scores: below 1 sharpens the weights, above 1 flattens them"),
    )
    if _has_hidden_keys(record):
        st.session_state["what_if_masked"] = rules.masked
        right.checkbox(
            _("With its mask"),
            key="what_if_masked",
            on_change=lambda: set_params(StepOptions, masked=st.session_state["what_if_masked"]),
            help=_("Off: hidden keys become visible"),
        )
    return replace(rules, scaling=scaling, percent=round(100 * st.session_state["what_if_percent"]))


def _scaling(column: DeltaGenerator, rules: StepOptions, offered: list[str]) -> str:
    scaling = rules.scaling if rules.scaling in offered else offered[0]
    st.session_state["what_if_scaling"] = scaling
    column.selectbox(
        _("Dot product"),
        offered,
        key="what_if_scaling",
        format_func=lambda name: translate(SCALINGS[name]),
        on_change=lambda: set_params(StepOptions, scaling=st.session_state["what_if_scaling"]),
        help=_("Divisor of q · k before the softmax"),
    )
    return scaling


def _distinct_scalings(record: Record, factor: float) -> list[str]:
    """Return the scalings that differ from the model's own, followed by the model's own."""
    scales = {name: _scale(record, name, factor) for name in SCALINGS}
    return [name for name, scale in scales.items() if name == "own" or not np.isclose(scale, scales["own"])]


def _scale(record: Record, scaling: str, factor: float) -> float:
    """Return the factor on the recorded dot products that gives the total scale of ``scaling``."""
    wanted = {"own": record.scale * factor, "root": record.query.shape[2] ** -0.5, "none": 1.0}[scaling]
    return float(wanted / factor)


def _has_hidden_keys(record: Record) -> bool:
    """Return whether the mask hides any key from any query."""
    return record.mask.block(slice(None), slice(None)) is not None


def _bits(weights: np.ndarray) -> float:
    return float(entropy(as_shares(weights[None]))[0])


def _sentence(spot: WeightPlace, before: np.ndarray, after: np.ndarray) -> None:
    pieces = spot.keys.pieces
    one, other = int(before.argmax()), int(after.argmax())
    show_notice(
        _(
            "{head}: “{token}” gives most to “{first}”, {gives:.0%}; under these rules to “{second}”, "
            "{now:.0%}. Entropy: {narrow:.2f} bits → {wide:.2f}.",
            head=spot.name,
            token=spot.pieces[0],
            first=pieces[one],
            gives=before[one],
            second=pieces[other],
            now=after[other],
            narrow=_bits(before),
            wide=_bits(after),
        ),
        role="status",
    )


def _chips(spot: WeightPlace, weights: np.ndarray) -> list[token_strip.TokenChip]:
    found = chips(spot.keys, weights)
    if len(found) <= LABELLED:
        found = [replace(chip, label=f"{weight:.2f}") for chip, weight in zip(found, weights, strict=True)]
    found[spot.key] = replace(found[spot.key], mark="chosen")
    return found
