"""One weight's way through a layer: the layer taken apart by the backend, the steps computed here."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from attention.mask import Array
from attention.record import Record
from attention.steps import Walk, Weighing, walk, weigh_head
from inference import Refusal
from inference.questions.layer import LayerAnswer, LayerQuestion
from ui.pages.step_by_step.weight_picker import Spot
from ui.run.refusals import say
from ui.run.shelf import backend
from ui.state.choice import Choice
from wording import _


@dataclass(frozen=True, eq=False)
class Way:
    """One weight's way: the layer taken apart, the walk of the token that looks, and the head's weighing."""

    spot: Spot
    layer: LayerAnswer
    walk: Walk
    weighing: Weighing

    @property
    def group(self) -> int:
        """The head of keys and values that the head reads."""
        return self.spot.head // (self.layer.wiring.heads // self.layer.wiring.kv_heads)

    @property
    def query(self) -> Array:
        """The query, (channel,), as it enters the dot products."""
        vector: Array = self.walk.query.last[self.spot.head][self.spot.query]
        return vector

    @property
    def keys(self) -> Array:
        """The head's keys, (key, channel), as they enter the dot products."""
        vectors: Array = self.walk.key.last[self.group]
        return vectors

    @property
    def values(self) -> Array:
        """The head's values, (key, channel)."""
        vectors: Array = self.walk.value.last[self.group]
        return vectors

    @property
    def factor(self) -> float:
        """What the model multiplies queries and keys with before the dot products, 1 in most."""
        return self.layer.wiring.query.factor * self.layer.wiring.key.factor


def question(choice: Choice, spot: Spot) -> LayerQuestion:
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


def take_apart(choice: Choice, spot: Spot) -> Way | None:
    """The way; None where the layer cannot be taken apart, which is then said on the page."""
    try:
        with st.spinner(_("Taking the layer apart"), show_time=True):
            found = backend().inspect(question(choice, spot))
    except Refusal as refusal:
        say(refusal.message, role="status")
        return None
    if found.ids != spot.trace.source.ids or not isinstance(spot.record, Record):
        say(
            _(
                "The model here reads this text in other tokens than the file has, so its steps would not be the "
                "file's."
            ),
            role="status",
        )
        return None
    way = walk(found.wiring, spot.record, found.stream, found.memory, spot.row)
    return Way(spot, found, way, weigh_head(found.wiring, spot.record, way.query, way.key, spot.head, spot.row))
