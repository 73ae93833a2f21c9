"""Effect of ablating each head on the label of a typed sentence, and links to other pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from attention.edits import Ablate, EditSet
from attention.mask import FloatArray
from attention.trace import Trace
from attention.view import View
from i18n import _, gettext_lazy
from inference.tasks.edit_effects import LabelEffects
from ui.ablation.controls import chosen_edits, draw_panel
from ui.ablation.edits import Head, describe_edits, places_of
from ui.ablation.effects import as_head_map, heads_csv, measure_changes
from ui.attribution.views import ExplainedLabel, label_provenance
from ui.pages.teach.options import TeachOptions
from ui.run.notices import show_notice
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.microscope import explore_link
from ui.show.tables import download_button
from ui.show.text import format_small
from ui.show.views import link_to_view
from ui.state.params import get_params, set_params
from ui.state.view_state import ViewState, fits, to_query
from viz.figures.head_maps import head_map, picked_head

HEADS = "teach_heads"
FALLS = gettext_lazy(
    "Ablating head {layer}-{head} lowers {what} by {size}, the most of all. {few} of {all} heads have less "
    "than a tenth of that."
)
RISES = gettext_lazy(
    "Ablating head {layer}-{head} raises {what} by {size}, the most of all. {few} of {all} heads have less "
    "than a tenth of that."
)


def draw_heads(asked: ExplainedLabel, trace: Trace) -> None:
    """Draw the ablation effect of every head on the explained label.

    A click selects the head for the links.
    """
    if not trace.has_qkv():
        show_notice(
            _(
                "{model} does not support ablation. Choose another model.",
                model=trace.model.architecture,
            ),
            "status",
        )
        _links(asked, None)
        return
    places = places_of(trace)
    found = _effects(asked, places, len(trace.source))
    if not len(found):
        return
    width = 1 + max(head for _, head in places)
    strongest = places[int(np.abs(found).argmax())]
    head = next(
        (place for place in places if get_params(TeachOptions).needed == place[0] * width + place[1]), strongest
    )
    _verdict(asked, places, found)
    unit = _("change of {what}", what=asked.what)
    figure = head_map(
        as_head_map(places, found),
        theme(),
        _("Effect of ablating each head"),
        unit,
        diverging=True,
        meaning=(_("it falls"), _("it rises")),
        selected=head,
    )
    draw_chart(figure, HEADS, on_click=partial(_on_pick, width), about=partial(label_provenance, asked))
    st.caption(_("Each cell ablates a single head. Click a cell to select the head of the links."))
    download_button(_("Save the table"), heads_csv(places, found, unit),
         "headlight-label-heads.csv", _("Every head's effect as CSV"), key="teach_save_heads",
         provenance=label_provenance(asked))  # fmt: skip
    _links(asked, head)
    _draw_edits(asked, trace, places)


def _draw_edits(asked: ExplainedLabel, trace: Trace, places: Sequence[Head]) -> None:
    """Draw the panel of edits, and the label's logit before and after them. Raise UserError if an edit does not fit."""
    edits = chosen_edits(get_params(TeachOptions), None)
    draw_panel(TeachOptions, edits, offered=[Ablate(*place) for place in places])
    if not edits:
        return
    before, after = _logits(asked, [(), edits])
    show_notice(
        _(
            "With {edits}, {what} is {after}; before, {before}.",
            edits=describe_edits(edits, View(trace, words=True)),
            what=asked.what,
            after=format_small(float(after)),
            before=format_small(float(before)),
        ),
        role="status",
    )


def _question(asked: ExplainedLabel) -> LabelEffects:
    return LabelEffects(asked.request.model, text=asked.request.text, at=asked.at)


def _logits(asked: ExplainedLabel, sets: Sequence[EditSet]) -> FloatArray:
    """Return the label's logit under each edit set, shape (set,)."""
    logits: FloatArray = get_backend().predict(replace(_question(asked), edits=tuple(sets))).values[:, asked.label]
    return logits


def _effects(asked: ExplainedLabel, places: Sequence[Head], tokens: int) -> FloatArray:
    """Return the change of the label's logit under the ablation of each head, shape (head,).

    The array is shorter if the reader stopped the computation.
    """
    sets = [(Ablate(*place),) for place in places]
    return measure_changes(
        f"{_question(asked).key}:{asked.label}",
        sets,
        tokens,
        _("Ablating each head"),
        partial(_logits, asked),
    )


def _verdict(asked: ExplainedLabel, places: Sequence[Head], found: FloatArray) -> None:
    """Show a sentence on the head with the largest effect."""
    sizes = np.abs(found)
    best = int(sizes.argmax())
    layer, head = places[best]
    said = _(
        FALLS if found[best] < 0 else RISES,
        layer=layer,
        head=head,
        what=asked.what,
        size=format_small(float(sizes[best])),
        few=int((sizes < sizes.max() / 10).sum()),
        all=len(found),
    )
    show_notice(said, role="status")


def _on_pick(width: int, key: str) -> None:
    place = picked_head(st.session_state[key])
    if place is not None:
        set_params(TeachOptions, needed=place[0] * width + place[1])


def _links(asked: ExplainedLabel, head: Head | None) -> None:
    """Draw links to the same sentence, model and head on the pages Explore and Cause."""
    there = ViewState(model=asked.request.model, text=asked.request.text, focus=asked.place.reads[0])
    there = there if head is None else replace(there, layer=head[0], head=head[1])
    with st.container(horizontal=True):
        explore_link(there)
        if fits(there):
            link_to_view(
                "cause",
                _("Ablate more"),
                icon=":material/content_cut:",
                query={**to_query(there), "watch": _("tag") if asked.of_word else _("label")},
            )
