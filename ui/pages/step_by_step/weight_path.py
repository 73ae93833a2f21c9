"""Decomposition of a layer along the path of a single attention weight."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from attention.mask import FloatArray
from attention.record import Record
from attention.walkthrough import LayerSteps, WeightSteps, trace_layer_steps, weigh_head
from i18n import _
from inference import UserError
from inference.tasks.whole_pass import LayerAnswer, LayerQuestion
from ui.pages.step_by_step.weight_picker import WeightPlace
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.run.traces import input_of
from ui.state.view_state import ViewState


@dataclass(frozen=True, eq=False)
class WeightPath:
    """The path of a single attention weight: the layer's parameters and all intermediate results."""

    spot: WeightPlace
    layer: LayerAnswer
    walk: LayerSteps
    weighing: WeightSteps

    @property
    def group(self) -> int:
        """Return the index of the key-value head that serves the query head."""
        return self.spot.head // (self.layer.wiring.heads // self.layer.wiring.kv_heads)

    @property
    def query(self) -> FloatArray:
        """Return the query vector as it enters the dot products, shape (channel,)."""
        vector: FloatArray = self.walk.query.last[self.spot.head][self.spot.query]
        return vector

    @property
    def keys(self) -> FloatArray:
        """Return the head's keys as they enter the dot products, shape (key, channel)."""
        vectors: FloatArray = self.walk.key.last[self.group]
        return vectors

    @property
    def values(self) -> FloatArray:
        """Return the head's values, shape (key, channel)."""
        vectors: FloatArray = self.walk.value.last[self.group]
        return vectors

    @property
    def factor(self) -> float:
        """Return the factor on queries and keys before the dot products, 1 for most models."""
        return self.layer.wiring.query.factor * self.layer.wiring.key.factor


def question(choice: ViewState, spot: WeightPlace) -> LayerQuestion:
    """Return the backend request for the layer; the text is that of the trace, also for an opened file."""
    return LayerQuestion(
        **input_of(choice, spot.trace),
        part=spot.part,
        layer=spot.layer,
    )


def decompose_weight(choice: ViewState, spot: WeightPlace) -> WeightPath | None:
    """Decompose the layer and return the path of the weight.

    Show a notice and return None if the layer cannot be decomposed, or if the tokens differ from those of the
    trace.
    """
    try:
        with st.spinner(_("Taking the layer apart"), show_time=True):
            found = get_backend().inspect(question(choice, spot))
    except UserError as refusal:
        show_notice(refusal.message, role="status")
        return None
    if found.ids != spot.trace.source.ids or not isinstance(spot.record, Record):
        show_notice(
            _("The installed model tokenizes this text differently from the file."),
            role="status",
        )
        return None
    way = trace_layer_steps(found.wiring, spot.record, found.stream, found.memory, spot.row)
    return WeightPath(spot, found, way, weigh_head(found.wiring, spot.record, way.query, way.key, spot.head, spot.row))
