"""What if the rules were others: without the √d, at another temperature, without the mask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.measures import as_shares, entropy
from attention.record import Record
from attention.what_if import changed, spreads
from ui.pages.step_by_step.options import Rules
from ui.pages.step_by_step.weight_picker import Spot, chips
from ui.run.refusals import say
from ui.show.chart import draw_chart, theme
from ui.state.options import choose_own, own
from viz.components.strip import strip
from viz.figures.what_if import what_if as figure

COLDEST, HOTTEST = 10, 400  # hundredths
SAMPLE = 256  # queries of a long text, over which a head's entropy is taken
LABELLED = 60  # tokens up to which each chip says its weight
SCALINGS = {"none": "not divided", "root": "divided by √d_k", "own": "as the model does"}


def what_if(spot: Spot, factor: float) -> None:
    """Draw the row before and after; ``factor`` is what the model multiplies queries and keys with beforehand."""
    record = spot.record
    assert isinstance(record, Record)
    rules = _controls(record, factor)
    other = changed(
        record,
        scale=_scale(record, rules.scaling, factor),
        temperature=rules.percent / 100,
        masked=rules.masked or not _hides(record),
    )
    before, after = (kind.weights(spot.head, spot.row)[0] for kind in (record, other))
    _sentence(spot, before, after)
    for name, title, weights in (("before", "As the model computes", before), ("after", "Under these rules", after)):
        strip.mount(_chips(spot, weights), f"what_if_{name}", title=f"{title}: {_bits(weights):.2f} bits")
    rows = np.unique(np.linspace(0, record.queries - 1, min(record.queries, SAMPLE)).astype(int))
    drawn = figure(spreads(record, rows), spreads(other, rows), theme(), head=spot.head, base=spot.base)
    draw_chart(drawn, "what_if_heads")
    counted = "all tokens" if len(rows) == record.queries else f"{len(rows)} of the tokens, evenly spaced"
    st.caption(
        f"Each head's mean over {counted}: 0 bits is one key, more is wider; the larger marks are the chosen head's. "
        "Only this layer's rule is changed, and the model was not trained for it: the vectors stay as they are."
    )


def _controls(record: Record, factor: float) -> Rules:
    rules = own(Rules)
    left, middle, right = st.columns(3)
    scaling = _scaling(left, rules, _offered(record, factor))
    st.session_state["what_if_percent"] = min(max(rules.percent, COLDEST), HOTTEST) / 100
    middle.slider(
        "Temperature",
        COLDEST / 100,
        HOTTEST / 100,
        step=0.05,
        key="what_if_percent",
        on_change=lambda: choose_own(Rules, percent=round(100 * st.session_state["what_if_percent"])),
        help="Scores are divided by it before the softmax: below 1 the largest wins more, above 1 all come closer.",
    )
    if _hides(record):
        st.session_state["what_if_masked"] = rules.masked
        right.checkbox(
            "With its mask",
            key="what_if_masked",
            on_change=lambda: choose_own(Rules, masked=st.session_state["what_if_masked"]),
            help="Off: the token also sees the keys that this layer hides from it.",
        )
    return replace(rules, scaling=scaling, percent=round(100 * st.session_state["what_if_percent"]))


def _scaling(column: DeltaGenerator, rules: Rules, offered: list[str]) -> str:
    scaling = rules.scaling if rules.scaling in offered else offered[0]
    st.session_state["what_if_scaling"] = scaling
    column.selectbox(
        "Dot products",
        offered,
        key="what_if_scaling",
        format_func=SCALINGS.__getitem__,
        on_change=lambda: choose_own(Rules, scaling=st.session_state["what_if_scaling"]),
        help="What q · k is divided by before the softmax",
    )
    return scaling


def _offered(record: Record, factor: float) -> list[str]:
    """The model's own scaling, last, after those that differ from it."""
    scales = {name: _scale(record, name, factor) for name in SCALINGS}
    return [name for name, scale in scales.items() if name == "own" or not np.isclose(scale, scales["own"])]


def _scale(record: Record, scaling: str, factor: float) -> float:
    """What recorded queries and keys are multiplied with, so that all of it is the scaling's."""
    wanted = {"own": record.scale * factor, "root": record.query.shape[2] ** -0.5, "none": 1.0}[scaling]
    return float(wanted / factor)


def _hides(record: Record) -> bool:
    """Whether any key is hidden from any query."""
    return record.mask.block(slice(None), slice(None)) is not None


def _bits(weights: np.ndarray) -> float:
    return float(entropy(as_shares(weights[None]))[0])


def _sentence(spot: Spot, before: np.ndarray, after: np.ndarray) -> None:
    pieces = spot.keys.pieces
    one, other = int(before.argmax()), int(after.argmax())
    if np.allclose(before, after, atol=1e-6):
        said = "these are the model's own rules, so both rows are the same; change one above."
    else:
        still = "still" if one == other else "now"
        said = (
            f"“{spot.pieces[0]}” gives most to “{pieces[one]}”, {before[one]:.2f}; under these rules {still} to "
            f"“{pieces[other]}”, {after[other]:.2f}. Its spread goes from {_bits(before):.2f} bits to "
            f"{_bits(after):.2f}."
        )
    say(f"{spot.name}: {said}", role="status")


def _chips(spot: Spot, weights: np.ndarray) -> list[strip.Chip]:
    found = chips(spot.keys, weights)
    if len(found) <= LABELLED:
        found = [replace(chip, label=f"{weight:.2f}") for chip, weight in zip(found, weights, strict=True)]
    found[spot.key] = replace(found[spot.key], mark="chosen")
    return found
