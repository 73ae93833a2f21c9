"""Ablation of each head of the fine-tuned model, compared with the change of the head's maps by fine-tuning."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st

from attention.edits import Ablate, EditSet
from attention.mask import FloatArray
from i18n import _
from inference import UserError
from inference.tasks.edit_effects import LabelEffects
from inference.tasks.labels import WordTags
from probing.labelled.labeled_texts import OUTSIDE
from probing.text_pairs import Mean, mean_of
from training.jobs.job import JobStatus
from ui.input.controls import bound_widget, head_name
from ui.pages.teach.changes_results import HeadChanges, change_provenance, interval
from ui.pages.teach.options import TeachOptions
from ui.run.notices import show_notice
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button
from ui.show.text import format_small
from ui.state.params import get_params, set_params
from viz.figures.head_maps import picked_head
from viz.figures.training import change_and_effect

MOST = 12  # The number of sentences on which each head is ablated.
KEY = "changed_used"
Place = tuple[int, int]


@dataclass(frozen=True, eq=False)
class HeadEffects:
    """The change of the predicted label's logit by ablating each head: means over sentences.

    ``signed`` is the mean change and ``size`` the mean absolute change, with intervals. Heads are numbered layer by
    layer.
    """

    signed: Mean
    size: Mean  # The mean absolute change of the logit.


def draw_used(look: JobStatus, found: HeadChanges, head: Place) -> None:
    """Draw the ablation effect of each head against its change by fine-tuning, if the reader opened the section.

    It is optional because it needs many forward passes.
    """
    st.header(_("Ablation effect"))
    bound_widget(TeachOptions, "removed", st.toggle)
    if not get_params(TeachOptions).removed:
        return
    try:
        uses = _load_effects(look, found)
    except UserError as refusal:
        show_notice(refusal.message)
        return
    if uses is None:
        return
    from scipy.stats import spearmanr  # takes a second

    bits = found.across.change.mean
    at = head[0] * found.shape[1] + head[1]
    likeness = float(spearmanr(bits, uses.size.mean).statistic) if bits.size > 1 else float("nan")
    show_notice(
        _(
            "Ablating {head} changes the label's logit by {size} on average{interval}. {alike}",
            head=head_name(*head),
            size=format_small(float(uses.size.mean[at])),
            interval=interval(uses.size, at),
            alike=_describe_correlation(likeness),
        ),
        role="status",
    )
    figure = change_and_effect(
        found.as_map(bits), found.as_map(uses.size.mean), theme(), _("Ablation effect"),
        _("change of the logit"), beyond=found.heads_beyond, selected=head)  # fmt: skip
    draw_chart(
        figure, KEY, on_click=partial(on_head_click, found.shape[1]), about=partial(change_provenance, look, found)
    )
    st.caption(
        _(
            "Dots: heads; up: mean absolute logit change if ablated ({n} sentences).",
            n=uses.size.n,
        )
    )
    download_button(
        _("Save as CSV"),
        uses_csv(found, uses),
        "headlight-changed-used.csv",
        _("All digits"),
        provenance={**change_provenance(look, found), "ablated_in_sentences": uses.size.n},
    )


def _describe_correlation(likeness: float) -> str:
    """Return a sentence on the rank correlation of change and ablation effect over all heads; "" if undefined."""
    if np.isnan(likeness):
        return ""
    return _("Rank correlation of change and effect: {likeness:.2f}.", likeness=likeness)


def _load_effects(look: JobStatus, found: HeadChanges) -> HeadEffects | None:
    """Ablate each head on the first MOST sentences and return the mean effects over the sentences.

    The reader may stop early; then the means are over the sentences so far. Show a notice and return None if no
    sentence gave a result. Raise UserError if the model cannot be read.
    """
    layers, heads = found.shape
    sets: list[EditSet] = [(Ablate(layer, head),) for layer in range(layers) for head in range(heads)]
    sentences = found.facts.sentences[:MOST]
    moved = []
    mark = f"used:{look.job.id}:{found.facts.step}"
    for at in stoppable_steps(mark, len(sentences), _("Running the model")):
        told = effects_without(look, sentences[at].text, sets)
        if told is not None:
            moved.append(told)
    if not moved:
        show_notice(_("It tagged no word as an entity."), role="status")
        return None
    every = np.stack(moved).astype(np.float64)
    return HeadEffects(mean_of(every), mean_of(np.abs(every)))


def effects_without(look: JobStatus, text: str, sets: list[EditSet]) -> FloatArray | None:
    """Return the change of the predicted label's logit under each edit set, shape (set,).

    ``look`` is the training of the model. For token classification, the label is that of the first word with a
    predicted tag other than "O"; return None if no word has such a tag.
    """
    question = LabelEffects(look.job.name, text=text)
    if look.job.kind == "tag":
        said = get_backend().predict(WordTags(look.job.name, text=text))
        tagged = [place for at, place in enumerate(said.places) if said.names[said.likeliest(at)] != OUTSIDE]
        if not tagged:
            return None
        question = replace(question, at=tagged[0].reads[0])
    values = get_backend().predict(replace(question, edits=((), *sets))).values
    label = int(values[0].argmax())
    found: FloatArray = values[1:, label] - values[0, label]
    return found


def uses_csv(found: HeadChanges, uses: HeadEffects) -> str:
    """Return a CSV of each head's change by fine-tuning and its ablation effects, with intervals."""
    names = ["layer", "head", "task (bits)", "change of the logit", "low", "high", "size of the change", "size, low",
             "size, high"]  # fmt: skip
    means = (uses.signed, uses.size)
    lines: list[list[object]] = [
        [*found.place(at), float(found.across.change.mean[at]),
         *(float(one[at]) for mean in means for one in (mean.mean, mean.low, mean.high))]
        for at in range(len(uses.size.mean))
    ]  # fmt: skip
    return csv_table(names, lines)


def on_head_click(width: int, key: str) -> None:
    """Select the head that was clicked in the figure ``key``; each layer has ``width`` heads."""
    place = picked_head(st.session_state[key])
    if place is not None:
        set_params(TeachOptions, moved=place[0] * width + place[1])
