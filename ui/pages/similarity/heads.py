"""The change of the cosine if a head is ablated in both texts, next to random changes of the same size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attention.edits import Ablate, PatchHead
from attention.mask import FloatArray
from i18n import _
from inference import TraceRequest
from inference.tasks.edit_effects import Effect
from inference.tasks.similarity import SimilarityEffects
from probing.statistics import count_by_chance, draws, row_thresholds
from ui.ablation.edits import Head, places_of
from ui.ablation.effects import as_head_map, heads_csv, measure_changes
from ui.input.controls import head_of, keep_head
from ui.pages.similarity.table import WordTable, table_provenance
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.tables import download_button
from ui.state.view_state import ViewState
from viz.figures.head_maps import head_map, mark_heads

MAP = "similarity_heads"


@dataclass(frozen=True, eq=False)
class CosineChanges:
    """The change of the cosine without each head, (layer, head), NaN if it was not reached or is missing.

    ``bands`` (layer,) is the absolute change that at most one in 20 random changes of the same size exceeds, and
    ``luck`` the number of heads above it by chance: the mean, and the ends of a 95 % range.
    """

    places: tuple[Head, ...]
    changes: FloatArray
    bands: FloatArray
    luck: tuple[float, int, int]
    draws: int  # random changes of a layer

    @property
    def beyond(self) -> list[Head]:
        """Return the heads beyond the band of their layer."""
        limits = np.where(np.isnan(self.bands), np.inf, self.bands)[:, None]
        return [(int(layer), int(head)) for layer, head in np.argwhere(np.abs(self.changes) > limits)]


def draw_heads(choice: ViewState, found: WordTable) -> None:
    """Draw the result sentence, the map of heads, and the download. Raise UserError."""
    heads = measure_heads(found)
    if not np.isfinite(heads.changes).any():
        return
    show_notice(describe_heads(heads), role="status")
    figure = head_map(
        heads.changes,
        theme(),
        _("Ablated in both texts"),
        _("change of the cosine"),
        diverging=True,
        meaning=(_("less similar without it"), _("more similar without it")),
        selected=head_of(choice, np.abs(heads.changes)),
    )
    mark_heads(figure, heads.beyond, "circle-open", theme())
    draw_chart(
        figure,
        MAP,
        on_click=keep_head,
        about=partial(table_provenance, found),
    )
    st.caption(
        _(
            "Marked: beyond 95 of 100 random changes in the layer. A random change moves a head's output in both texts "
            "by a random vector of its length (n = {n} per layer).",
            n=heads.draws,
        )
    )
    download_button(
        _("Save the table"),
        heads_csv(heads.places, heads.changes[tuple(np.transpose(heads.places))], _("change of the cosine")),
        "headlight-similarity-heads.csv",
        _("Every head's effect as CSV"),
        key="similarity_save_heads",
        provenance=table_provenance(found),
    )


def measure_heads(found: WordTable) -> CosineChanges:
    """Ablate each head in both texts, and draw random changes; raise UserError if the model cannot be edited."""
    asked = found.request
    places = places_of(get_backend().trace(TraceRequest(model=asked.model, revision=asked.revision, text=asked.a)))
    width = max(head for _layer, head in places) + 1
    many = draws(width)
    sets: list[tuple[Any, ...]] = [(Ablate(*place),) for place in places]
    sets += [(PatchHead(*place, (), seed=at * many + draw),) for at, place in enumerate(places) for draw in range(many)]
    question = SimilarityEffects(asked.model, asked.revision, asked.a, asked.b, found.answer.pooling)

    def numbers(some: Sequence[tuple[Any, ...]]) -> FloatArray:
        effect: Effect = get_backend().inspect(replace(question, edits=tuple(some)))
        return effect.values[:, 0]

    tokens = max(len(found.answer.row_a), len(found.answer.row_b))
    changes = np.full(len(sets), np.nan, np.float32)
    measured = measure_changes(f"similar:{question.key}", sets, tokens, _("Ablating each head"), numbers)
    changes[: len(measured)] = measured
    layers = sorted({layer for layer, _head in places})
    drawn = np.full((max(layers) + 1, width * many), np.nan, np.float32)
    for at, (layer, head) in enumerate(places):
        drawn[layer, head * many : (head + 1) * many] = np.abs(changes[len(places) + at * many :][:many])
    mapped = as_head_map(places, changes[: len(places)])
    return CosineChanges(tuple(places), mapped, row_thresholds(drawn), count_by_chance(drawn, width), width * many)


def describe_heads(heads: CosineChanges) -> str:
    """Return a sentence with the head of the largest change, and the number of heads beyond random changes."""
    layer, head = np.unravel_index(int(np.nanargmax(np.abs(heads.changes))), heads.changes.shape)
    change = _(
        "Without head {layer}-{head} the cosine changes most, by {change:+.3f}.",
        layer=int(layer),
        head=int(head),
        change=float(heads.changes[layer, head]),
    )
    if not np.isfinite(heads.bands).any():
        return change
    mean, low, high = heads.luck
    return _(
        "{change} {many} of {heads} heads exceed the random changes; expected by chance: {mean:.0f} "
        "(95 % range {low} to {high}).",
        change=change,
        many=len(heads.beyond),
        heads=int(np.isfinite(heads.changes).sum()),
        mean=mean,
        low=low,
        high=high,
    )
