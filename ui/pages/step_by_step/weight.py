"""The attention weight that the page explains: widgets that select it, and all steps of its computation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TypeGuard

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from attention.record import AnyRecord, Record
from attention.tokens import TokenRow
from attention.trace import Trace
from attention.walkthrough import LayerSteps, WeightSteps, trace_layer_steps, weigh_head
from i18n import _, gettext_lazy, translate
from inference import UserError
from inference.tasks.whole_pass import LayerAnswer, LayerQuestion
from ui.input.controls import ALL_STAGES
from ui.run.notices import show_notice
from ui.run.services import ViewOptions, get_backend, get_trace_store
from ui.run.traces import input_of
from ui.state.selection import resolve_view, select
from ui.state.session import set_view_state
from ui.state.view_state import ViewState, example_of
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip
from viz.options import option

STAGES = {
    "input": gettext_lazy("Input"),
    "projections": gettext_lazy("Query, key, value"),
    "weights": gettext_lazy("Attention weights"),
    "values": gettext_lazy("Weighted values"),
    "output": gettext_lazy("Output projection"),
    "residual": gettext_lazy("Residual sum"),
    "check": gettext_lazy("Check"),
}


@dataclass(frozen=True)
class StepOptions:
    """Options of the page Step by step: the view, the step of the computation, and the changed softmax settings."""

    show: str = option("steps", choices=("steps", "neuron", "rules", "heads"))
    # The default differs from the model's rule, so that the figure shows an effect.
    scaling: str = option("none", choices=("none", "root", "own"))
    percent: int = 100  # The temperature in hundredths.
    masked: bool = True
    stage: str = option(
        "input", label=gettext_lazy("Stage"), choices={**STAGES, ALL_STAGES: gettext_lazy("All stages")}
    )


WHO, WHOM = "spot_query", "spot_key"
LABEL = 14  # The maximum number of characters of a token in a label.
LAYER_HELP = gettext_lazy("Each layer reads the output of the previous layer")
HEAD_HELP = gettext_lazy("Heads work in parallel, each with its own matrices")


@dataclass(frozen=True, eq=False)
class WeightPlace:
    """The position of an attention weight: stack, layer, head, query token and key token, from 0.

    The query token attends to the key token.
    """

    trace: Trace
    part: str
    layer: int
    head: int
    query: int  # the token that looks
    key: int  # the token that is looked at

    @property
    def record(self) -> AnyRecord:
        """Return the recorded attention of the layer."""
        return self.trace.records(self.part)[self.layer]

    @property
    def row(self) -> np.ndarray:
        """Return the query position as an index array of length 1."""
        return np.array([self.query])

    @property
    def name(self) -> str:
        """Return the display name of the head, such as "Head 3-7"."""
        return _("Head {layer}-{head}", layer=self.layer, head=self.head)

    @property
    def pieces(self) -> tuple[str, str]:
        """Return the query token and the key token as strings."""
        return self.queries.pieces[self.query], self.keys.pieces[self.key]

    @property
    def queries(self) -> TokenRow:
        """Return the row of query tokens."""
        return self.trace.token_rows(self.part)[0]

    @property
    def keys(self) -> TokenRow:
        """Return the row of key tokens."""
        return self.trace.token_rows(self.part)[1]

    @property
    def selection(self) -> dict[str, int]:
        """Return all fields of the selection, so that a change of one of them keeps the others."""
        return {"layer": self.layer, "head": self.head, "focus": self.query, "to": self.key}


def find(choice: ViewState, trace: Trace) -> tuple[WeightPlace, ViewOptions, list[str]]:
    """Return the selected attention weight, the view options, and notices on an invalid selection.

    There is a notice for each invalid part. Missing parts get the defaults of the view Explore; the default key is the
    word with the largest weight.
    """
    look, notes = resolve_view(choice, trace)
    part = look.part or trace.part
    view = get_trace_store().view(trace, look)
    if not view.queries or not view.keys:
        view = get_trace_store().view(trace, ViewOptions(look.part))
    selection, more = select(choice, view, example_of(trace.text, trace.pair or ""))
    layer, head = selection["layer"], selection["head"]
    query = choice.focus if _is_token(choice.focus, trace, part, 0) else view.queries[selection["focus"]].pieces[0]
    target = selection["target"]
    if _is_token(choice.to, trace, part, 1):
        key = choice.to
    else:
        key = view.keys[target].pieces[0] if target is not None else strongest_key(trace, part, layer, head, query)
    return WeightPlace(trace, part, layer, head, int(query), int(key)), look, [*notes, *more]


def strongest_key(trace: Trace, part: str, layer: int, head: int, query: int) -> int:
    """Return the index of the key with the largest weight.

    Special tokens and the query itself are returned only if no other key has any weight.
    """
    weights = trace.records(part)[layer].weights(head, np.array([query]))[0]
    words = ~np.array(trace.token_rows(part)[1].special)
    if part != "cross":
        words[query] = False
    links = np.where(words, weights, 0)
    return int((links if links.max(initial=0) > 0 else weights).argmax())


def window(length: int, size: int, *must: int) -> np.ndarray:
    """Return the positions to draw: all of them, or in a long text ``size`` positions around ``must[0]``.

    All other positions in ``must`` are added.

    >>> window(9, 3, 4, 0).tolist(), window(3, 5, 1).tolist()
    ([0, 3, 4, 5], [0, 1, 2])
    """
    if length <= size:
        return np.arange(length)
    start = min(max(0, must[0] - size // 2), length - size)
    return np.unique(np.concatenate([np.arange(start, start + size), np.array(must)]))


def labels(row: TokenRow, shown: np.ndarray) -> tuple[str, ...]:
    """Return a label with position and token for each shown position, tokens cut to LABEL characters."""
    names = row.labels
    return tuple(f"{at} {names[at][:LABEL]}" for at in map(int, shown))


def place(shown: np.ndarray, token: int) -> int | None:
    """Return the index of ``token`` among the shown positions; None if it is not shown.

    >>> place(np.array([3, 5]), 5)
    1
    """
    found = np.flatnonzero(shown == token)
    return int(found[0]) if len(found) else None


def pick_head(spot: WeightPlace) -> None:
    """Draw the selectors of layer and head."""
    records = spot.trace.records(spot.part)
    _number("layer", spot, len(records), _("Layer"), translate(LAYER_HELP))
    _number("head", spot, spot.record.heads, _("Head"), translate(HEAD_HELP))


def pick_pair(spot: WeightPlace) -> None:
    """Draw the selectors of the query token and the key token."""
    weights = spot.record.weights(spot.head, spot.row)[0]
    who, whom = chips(spot.queries), chips(spot.keys, weights)
    who[spot.query] = replace(who[spot.query], mark="chosen")
    whom[spot.key] = replace(whom[spot.key], mark="chosen")
    token_strip.mount(who, WHO, title=_("Query: click a token"), on_pick=partial(_on_pick, WHO, "focus", spot))
    title = _("Key, shaded by weight: click a token")
    token_strip.mount(whom, WHOM, title=title, on_pick=partial(_on_pick, WHOM, "to", spot))


def _is_token(token: int | None, trace: Trace, part: str, side: int) -> TypeGuard[int]:
    return token is not None and 0 <= token < len(trace.token_rows(part)[side])


def _number(field: str, spot: WeightPlace, count: int, label: str, meaning: str) -> None:
    key = f"spot_{field}"
    st.session_state[key] = getattr(spot, field)
    st.selectbox(
        label,
        range(count),
        key=key,
        format_func=lambda number: str(number),
        on_change=lambda: set_view_state(**{**spot.selection, field: st.session_state[key]}),
        help=meaning,
        width=150,
    )


def _on_pick(key: str, field: str, spot: WeightPlace) -> None:
    at = token_strip.picked_chip(key)
    if at is None:
        return
    # A new query resets the key, because the largest weight of another row may be at another key.
    again = {"to": None} if field == "focus" else {}
    set_view_state(**{**spot.selection, **again, field: at})


def chips(row: TokenRow, weights: np.ndarray | None = None) -> list[TokenChip]:
    """Return a row of tokens as chips, shaded by ``weights``, shape (token,), if given."""
    shades = [None] * len(row) if weights is None else [float(weight) for weight in weights]
    titles = ["" if shade is None else f"{shade:.4f}" for shade in shades]
    glued = map(row.goes_on, range(len(row)))
    return [
        TokenChip(piece, shade, "", glue, special, title, unknown=unknown)
        for piece, shade, glue, special, title, unknown in zip(
            row.pieces, shades, glued, row.special, titles, row.unknown, strict=True
        )
    ]


@dataclass(frozen=True, eq=False)
class WeightPath:
    """The computation of a single attention weight: the layer's parameters and all intermediate results."""

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
        """Return the query vector as used in the dot products, shape (channel,)."""
        vector: FloatArray = self.walk.query.last[self.spot.head][self.spot.query]
        return vector

    @property
    def keys(self) -> FloatArray:
        """Return the head's keys as used in the dot products, shape (key, channel)."""
        vectors: FloatArray = self.walk.key.last[self.group]
        return vectors

    @property
    def values(self) -> FloatArray:
        """Return the head's values, shape (key, channel)."""
        vectors: FloatArray = self.walk.value.last[self.group]
        return vectors

    @property
    def factor(self) -> float:
        """Return the factor by which queries and keys are multiplied before the dot products; 1 for most models."""
        return self.layer.wiring.query.factor * self.layer.wiring.key.factor


def question(choice: ViewState, spot: WeightPlace) -> LayerQuestion:
    """Return the request for the layer's parameters; for an opened file, the text is that of the file."""
    return LayerQuestion(
        **input_of(choice, spot.trace),
        part=spot.part,
        layer=spot.layer,
    )


def decompose_weight(choice: ViewState, spot: WeightPlace) -> WeightPath | None:
    """Return the selected weight, computed step by step from the layer's parameters.

    Show a notice and return None if the layer cannot be decomposed, or if the tokens differ from those of the trace.
    """
    try:
        with st.spinner(_("Inspecting the model"), show_time=True):
            found = get_backend().inspect(question(choice, spot))
    except UserError as refusal:
        show_notice(refusal.message, role="status")
        return None
    if found.ids != spot.trace.source.ids or not isinstance(spot.record, Record):
        show_notice(
            _("The installed model tokenizes this text differently."),
            role="status",
        )
        return None
    way = trace_layer_steps(found.wiring, spot.record, found.stream, found.memory, spot.row)
    return WeightPath(spot, found, way, weigh_head(found.wiring, spot.record, way.query, way.key, spot.head, spot.row))
