"""One weight's way through a layer: the layer taken apart by the backend, the steps computed here."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from attention.mask import FloatArray
from attention.record import Record
from attention.walkthrough import LayerSteps, WeightSteps, trace_layer_steps, weigh_head
from i18n import _
from inference import UserError
from inference.tasks.layer import LayerAnswer, LayerQuestion
from ui.pages.step_by_step.weight_picker import WeightPlace
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.state.view_state import ViewState


@dataclass(frozen=True, eq=False)
class WeightPath:
    """One weight's way: the layer taken apart, the walk of the token that looks, and the head's weighing."""

    spot: WeightPlace
    layer: LayerAnswer
    walk: LayerSteps
    weighing: WeightSteps

    @property
    def group(self) -> int:
        """The head of keys and values that the head reads."""
        return self.spot.head // (self.layer.wiring.heads // self.layer.wiring.kv_heads)

    @property
    def query(self) -> FloatArray:
        """The query, (channel,), as it enters the dot products."""
        vector: FloatArray = self.walk.query.last[self.spot.head][self.spot.query]
        return vector

    @property
    def keys(self) -> FloatArray:
        """The head's keys, (key, channel), as they enter the dot products."""
        vectors: FloatArray = self.walk.key.last[self.group]
        return vectors

    @property
    def values(self) -> FloatArray:
        """The head's values, (key, channel)."""
        vectors: FloatArray = self.walk.value.last[self.group]
        return vectors

    @property
    def factor(self) -> float:
        """What the model multiplies queries and keys with before the dot products, 1 in most."""
        return self.layer.wiring.query.factor * self.layer.wiring.key.factor


def question(choice: ViewState, spot: WeightPlace) -> LayerQuestion:
    """What the backend is asked: the text of the trace, which an opened file brings along."""
    trace = spot.trace
    opened = bool(choice.opened)
    return LayerQuestion(
        model=trace.model.name if opened else choice.model,
        revision=trace.model.revision if opened else choice.revision or None,
        text=trace.text,
        pair=trace.pair,
        target=() if trace.target is None else trace.target.ids,
        cut=len(trace.source),
        part=spot.part,
        layer=spot.layer,
    )


def decompose_weight(choice: ViewState, spot: WeightPlace) -> WeightPath | None:
    """The way; None where the layer cannot be taken apart, which is then said on the page."""
    try:
        with st.spinner(_("Taking the layer apart"), show_time=True):
            found = get_backend().inspect(question(choice, spot))
    except UserError as refusal:
        show_notice(refusal.message, role="status")
        return None
    if found.ids != spot.trace.source.ids or not isinstance(spot.record, Record):
        show_notice(
            _(
                "The model here reads this text in other tokens than the file has, so its steps would not be the "
                "file's."
            ),
            role="status",
        )
        return None
    way = trace_layer_steps(found.wiring, spot.record, found.stream, found.memory, spot.row)
    return WeightPath(spot, found, way, weigh_head(found.wiring, spot.record, way.query, way.key, spot.head, spot.row))
