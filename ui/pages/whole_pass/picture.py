"""A zoomable diagram of the forward pass, and the widgets that move through its stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

import numpy as np
import streamlit as st

from i18n import _, translate
from inference.tasks.whole_pass import EMBEDDINGS, Stage
from ui.input.controls import bound_widget, draw_back_and_next
from ui.pages.whole_pass.inspector import HEADS, PassInspector, WholePassOptions
from ui.pages.whole_pass.names import INSIDE, display_name, in_stack, place, short_title, title
from ui.show.chart import draw_notebook_menu
from ui.show.tour import is_touring
from ui.state.params import set_params
from viz.components.stack import stack
from viz.components.stack.stack import StackPart, StackRow
from viz.export import format_value
from viz.paper.notebook import Computation

KEY = "whole_pass"
SIZES = """\
spread = backend.inspect(request).spread
numbers = np.concatenate([spread[stage] / max(spread[stage].max(), 1e-9) for stage in stages])"""


def parts_of(stages: Sequence[Stage]) -> list[Stage]:
    """Return the stages in the diagram of the whole pass.

    They are the last stage of each part (attention, feed-forward), the hidden layer of each feed-forward part, and
    every embedding.
    """
    found = []
    for _part, run in groupby(stages, key=lambda stage: (stage.side, stage.layer, stage.part)):
        mine = [*run]
        inside = [stage for stage in mine if stage.role in INSIDE][-1:]
        found += mine if mine[0].part == EMBEDDINGS else [*inside, mine[-1]]
    return list(dict.fromkeys(found))


def stages_of_layer(stages: Sequence[Stage], stage: Stage) -> list[Stage]:
    """Return the stages in the layer of ``stage``.

    For a stage before (or after) all layers, return all stages before (or after) the layers.
    """
    return [one for one in stages if _floor(one) == _floor(stage)]


def _floor(stage: Stage) -> tuple[str, int | None, bool]:
    return stage.side, stage.layer, stage.layer is None and stage.part == EMBEDDINGS


def draw_stack(asked: PassInspector, parts: Sequence[Stage], chosen: Stage) -> None:
    """Draw the whole pass with a row for each layer."""
    rows = [_row(asked, _capitalize(place(run[0], asked.two)), run, in_stack) for run in _runs(parts, key=_floor)]
    shown = "embeddings; parts: last stage; feed-forward: hidden layer"
    _draw(asked, rows, chosen, _("The forward pass, from left to right and down"), "stack", shown)


def draw_layer(asked: PassInspector, stages: Sequence[Stage], chosen: Stage) -> None:
    """Draw the stages of a layer, or those before or after all layers, with a row for each part."""
    rows = [
        _row(asked, _capitalize(display_name(run[0].part)), run, short_title)
        for run in _runs(stages, key=lambda stage: stage.part)
    ]
    side, layer, is_before = _floor(chosen)
    floor = f"layer {layer}" if layer is not None else f"{'before' if is_before else 'after'} the layers"
    _draw(asked, rows, chosen, _capitalize(place(chosen, asked.two)), "layer", f"{side}, {floor}")


def _runs(stages: Sequence[Stage], key: Callable[[Stage], object]) -> list[list[Stage]]:
    return [[*run] for _key, run in groupby(stages, key=key)]


def _capitalize(name: str) -> str:
    return name[0].upper() + name[1:]


def _row(asked: PassInspector, name: str, stages: Sequence[Stage], names: Callable[[Stage], str]) -> StackRow:
    spread = asked.result.spread
    parts = tuple(
        StackPart(
            names(stage),
            title(stage),
            spread[stage.number] / max(float(spread[stage.number].max()), 1e-9),
            asked.result.stages.index(stage),
        )
        for stage in stages
    )
    return StackRow(name, parts, asked.tokens(stages[0].side))


def _draw(  # noqa: PLR0913  (the parts of a diagram)
    asked: PassInspector, rows: Sequence[StackRow], chosen: Stage, name: str, zoom: str, shown: str
) -> None:
    """Draw a diagram at the zoom level ``zoom``; ``shown`` names its stages in the provenance."""
    parts = [part for row in rows for part in row.parts]
    stages = f"{len(parts)} of {len(asked.result.stages)} ({shown})"
    found = asked.provenance(stages=stages, measure="RMS per token; maximum per stage: 1")
    about = tuple((field, format_value(value)) for field, value in found.items())
    stack.mount(
        rows,
        f"{KEY}_{zoom}",
        title=name,
        note=_(
            "Strips: a cell per token, coloured by the vector's size (RMS, relative to the part's "
            "largest). Click a part to zoom in."
        ),
        chosen=asked.result.stages.index(chosen),
        on_pick=partial(_zoom_in, asked, zoom),
        about=about,
    )
    numbers = [asked.result.stages[part.pick].number for part in parts]
    computation = partial(Computation, SIZES, request=asked.request, stages=numbers)
    sizes = partial(np.concatenate, [part.shares for part in parts])
    draw_notebook_menu(name, f"{KEY}_{zoom}", sizes, lambda: dict(about), computation)


def _zoom_in(asked: PassInspector, zoom: str) -> None:
    """Zoom one level into the clicked part, and choose the clicked token."""
    found = stack.picked_part(f"{KEY}_{zoom}")
    if found is None or found[0] >= len(asked.result.stages):
        return
    stage, row = found
    token = {} if row is None else {"row": row}
    set_params(WholePassOptions, stage=stage, column=None, zoom="layer" if zoom == "stack" else "stage", **token)


def head_and_zoom(asked: PassInspector) -> None:
    """Draw the widgets that select the task head and the zoom level."""
    closeness, ending = st.columns(2)
    heads = HEADS[asked.trace.model.kind]
    if len(asked.heads) > 1:
        st.session_state["pass_head"] = asked.head
        ending.segmented_control(
            _("Task head"),
            list(asked.heads),
            key="pass_head",
            required=True,
            format_func=lambda head: translate(heads[head]),
            on_change=lambda: set_params(WholePassOptions, ends=st.session_state["pass_head"], stage=None, column=None),
            help=_("Reads the last hidden state; without it, the pass ends there"),
        )
    bound_widget(WholePassOptions, "zoom", closeness.segmented_control, required=True)


def draw_stage_steps(asked: PassInspector, chosen: Stage, shown: Sequence[Stage]) -> None:
    """Draw the widget that selects a stage, and buttons for the previous and next of the stages ``shown``."""
    stages = asked.result.stages
    at, beside = st.columns([2, 1], vertical_alignment="bottom")
    st.session_state["pass_stage"] = stages.index(chosen)
    at.selectbox(
        _("Stage"),
        [stages.index(stage) for stage in shown],
        key="pass_stage",
        format_func=lambda index: _stage(asked, stages[index]),
        on_change=lambda: _open_stage(st.session_state["pass_stage"]),
    )
    here = shown.index(chosen)
    both = beside.container(horizontal=True)  # keeps the buttons in a row on narrow screens too
    with both:
        draw_back_and_next(
            "pass", here, len(shown), lambda other: _open_stage(stages.index(shown[other])), not is_touring()
        )


def _stage(asked: PassInspector, stage: Stage) -> str:
    return _("{name}: {text}", name=place(stage, asked.two), text=title(stage))


def _open_stage(stage: int) -> None:
    set_params(WholePassOptions, stage=stage, column=None)
