"""Pictures page: the effect of ablating each head, and of random edit sets for comparison."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from attention.edits import Ablate, EditSet, random_sets
from attention.trace import Trace
from i18n import _
from ui.ablation.edits import Head
from ui.ablation.effects import SEED, as_head_map, heads_csv
from ui.pages.pictures.metric import PictureMetric
from ui.pages.pictures.options import PicturesOptions
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.tables import download_button, model_fields
from ui.show.text import format_small
from ui.state.params import set_params
from viz.components.picture.content import grid_and_picture, part_of
from viz.figures.evaluation import random_sets as random_figure
from viz.figures.head_maps import head_map, mark_heads, picked_head

RANDOM_SETS = 20  # The number is small because each set needs a forward pass over all patches.


def places_of(trace: Trace) -> list[Head]:
    """Return the (layer, head) of every head of the picture's stack."""
    records = trace.records(part_of(trace))
    return [(layer, head) for layer, record in enumerate(records) for head in range(record.heads)]


def every_head(watch: PictureMetric, trace: Trace, edits: EditSet, selected: Head) -> None:
    """Draw a map of the effect of ablating each head; a click selects a head.

    The computation starts on request, because it needs a forward pass for each head.
    """
    places = places_of(trace)
    if not _is_requested("heads", watch, _("Ablate each head"), len(places)):
        return
    doing = _("Ablating each head")
    found = watch.changes([(Ablate(*place),) for place in places], len(trace.source), doing)
    if not len(found):
        return
    most = places[int(np.abs(found).argmax())]
    show_notice(
        _(
            "Of {known} heads, ablating {layer}-{head} changes it most: by {change}.",
            known=len(found),
            layer=most[0],
            head=most[1],
            change=format_small(float(found[np.abs(found).argmax()])),
        ),
        role="status",
    )
    figure = head_map(
        as_head_map(places, found),
        theme(),
        _("Effect of ablating each head"),
        watch.effect,
        diverging=bool(watch.name),
        selected=selected,
    )
    mark_heads(figure, [(one.layer, one.head) for one in edits if isinstance(one, Ablate)], "x", theme())
    draw_chart(figure, "picture_causes", on_click=_on_click, about=lambda: model_fields(trace.model))
    st.caption(
        _(
            "Each cell: one head ablated alone; metric: {effect}. Frame: shown; cross: ablated. Click a head "
            "to show it.",
            effect=watch.effect,
        )
    )
    about = _("Every head's effect as CSV")
    download_button(
        _("Save the table"),
        heads_csv(places, found, watch.effect),
        "headlight-picture-heads.csv",
        about,
        provenance=model_fields(trace.model),
    )


def _on_click(key: str) -> None:
    place = picked_head(st.session_state[key])
    if place is not None:
        set_params(PicturesOptions, layer=place[0], head=place[1])


def draw_random_sets(watch: PictureMetric, trace: Trace, edits: EditSet) -> None:
    """Draw the effects of random edit sets of the same size, and the rank of the chosen set."""
    if not edits:
        return
    grid, _picture = grid_and_picture(trace)
    patches = range(grid.start, grid.start + len(grid))
    sets = random_sets(edits, places_of(trace), patches, RANDOM_SETS, SEED)
    if len(sets) < 2 or not _is_requested("chance", watch, _("Random baseline"), len(sets)):
        return
    found = watch.changes(sets, len(trace.source), _("Computing the random baseline"))
    if len(found) < 2:
        return
    chosen = float(watch.changes([edits], len(trace.source), _("Ablating"))[0])
    less = float((np.abs(found) < abs(chosen)).mean())
    show_notice(
        _(
            "Of {n} other sets like it, drawn at random, {less:.0f} % change the answer less (their median: {median}).",
            n=len(found),
            less=100 * less,
            median=format_small(float(np.median(np.abs(found)))),
        ),
        role="status",
    )
    draw_chart(
        random_figure(found, chosen, theme(), watch.effect), "picture_chance", about=lambda: model_fields(trace.model)
    )
    st.caption(
        _(
            "Bars: random sets of the same size (seed {seed}), from all heads and patches. Line: the chosen set.",
            seed=SEED,
        )
    )


def _is_requested(what: str, watch: PictureMetric, label: str, passes: int) -> bool:
    """Return whether the reader requested the computation for this metric; draw its button otherwise."""
    key, mark = f"picture_wants_{what}", f"{watch.question.key}:{watch.at}"
    if st.session_state.get(key) == mark:
        return True
    want = partial(st.session_state.__setitem__, key, mark)
    st.button(label, key=f"{key}_button", on_click=want,
              help=_("{passes} forward passes; can be stopped", passes=passes))  # fmt: skip
    return False
