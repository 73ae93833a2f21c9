"""Effects of ablations on a translation: every head in turn, and random sets as a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from attention.edits import Ablate, EditSet, random_sets
from attention.mask import FloatArray
from i18n import _, gettext_lazy, translate
from ui.ablation.edits import Head, toggle_edits
from ui.ablation.effects import RANDOM_SETS, SEED
from ui.pages.translate.edits import part_head, put
from ui.pages.translate.heads import CrossHead, keep_head
from ui.pages.translate.options import TranslateOptions
from ui.pages.translate.target_strip import forcing_request
from ui.pages.translate.translation import Translation
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.run.progress import stoppable_steps
from ui.run.services import get_backend
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button, page_provenance
from ui.show.text import factor, join_sentences
from viz.figures.evaluation import random_sets as random_figure
from viz.figures.head_maps import head_map, mark_heads, picked_head

MAP = "translate_map"
AT_ONCE = 8  # edit sets in a request
UNIT = gettext_lazy("change of log-probability")


@dataclass(frozen=True, eq=False)
class EditEffects:
    """Effects of edit sets on a given translation.

    ``changes``, shape (set,), are differences of the translation's log-probability. ``others``, shape (set,), is
    True if the model's top token changes at some step.
    """

    changes: FloatArray
    others: FloatArray


def places_of(translation: Translation, part: str) -> list[Head]:
    """Return every head of a stack as (layer, head)."""
    records = translation.trace.records(part)
    return [(layer, head) for layer, record in enumerate(records) for head in range(record.heads)]


def effects(translation: Translation, sets: Sequence[EditSet], doing: str) -> EditEffects:
    """Return the effects of the sets, of fewer sets if the reader has stopped; may raise UserError."""
    question = forcing_request(translation)
    plain = ask_model(question, _("Asking the model"))
    changes, others = [np.zeros(0, np.float32)], [np.zeros(0, np.bool_)]
    starts = range(0, len(sets), AT_ONCE)
    for at in stoppable_steps(f"{question.key}:{hash(tuple(sets))}", len(starts), doing):
        with st.spinner(doing, show_time=True):
            found = get_backend().predict(replace(question, edits=tuple(sets[starts[at] : starts[at] + AT_ONCE])))
        changes.append(found.logs.sum(axis=1) - plain.logs.sum())
        others.append((found.likeliest != plain.likeliest).any(axis=1))
    return EditEffects(np.concatenate(changes), np.concatenate(others))


def every_head(translation: Translation, head: CrossHead, edits: EditSet, options: TranslateOptions) -> None:
    """Ablate each head of a stack in turn and draw the effects as a map; a click on a head ablates it."""
    part = options.side
    places = places_of(translation, part)
    sets = [(Ablate(*place, part),) for place in places]
    found = effects(translation, sets, _("Ablating each head"))
    if not len(found.changes):
        return
    values = np.full((places[-1][0] + 1, max(one for _, one in places) + 1), np.nan, np.float32)
    for place, change in zip(places, found.changes, strict=False):
        values[place] = change
    show_notice(summary(found, places, part), "status")
    selected = (head.layer, head.head) if part == "cross" else None
    figure = head_map(
        values, theme(), _("Effect of ablating each head"), translate(UNIT), diverging=True, selected=selected,
        meaning=(_("less likely"), _("more likely")))  # fmt: skip
    gone = [(edit.layer, edit.head) for edit in edits if isinstance(edit, Ablate) and edit.part == part]
    turned = [place for place, other in zip(places, found.others, strict=False) if other and place not in gone]
    mark_heads(figure, turned, "circle-open", theme())
    mark_heads(figure, gone, "x", theme())

    def on_click(key: str) -> None:
        place = picked_head(st.session_state[key])
        if place is not None:
            head_clicked(place, part, edits, options)

    draw_chart(figure, MAP, on_click=on_click)
    st.caption(
        _(
            "Each cell ablates a single head; −0.7: the translation is half as likely. Ring: another token comes"
            " first somewhere; cross: ablated. Click to ablate or restore."
        )
    )
    rows = [
        (part, layer, one, float(change), bool(turned))
        for (layer, one), change, turned in zip(places, found.changes, found.others, strict=False)
    ]
    table = csv_table(("part", "layer", "head", UNIT, "another token first"), rows)
    download_button(
        _("Save the table"), table, "headlight-every-head.csv", _("All digits"), provenance=page_provenance()
    )


def summary(found: EditEffects, places: Sequence[Head], part: str) -> str:
    """Return sentences with the head of the largest effect and the number of changed top tokens.

    Only the heads ablated so far are counted.
    """
    most = int(np.abs(found.changes).argmax())
    head = part_head(part, *places[most])
    times = factor(float(found.changes[most]))
    first = (
        _("{head} matters most: without it the translation is {factor} times less likely.", head=head, factor=times)
        if found.changes[most] < 0
        else _(
            "{head} matters most: without it the translation is {factor} times more likely.", head=head, factor=times
        )
    )
    second = _(
        "{number} of {removals} ablations put another token first somewhere.",
        number=int(found.others.sum()),
        removals=len(found.changes),
    )
    return join_sentences(f"{first[0].upper()}{first[1:]}", second)


def head_clicked(place: Head, part: str, edits: EditSet, options: TranslateOptions) -> None:
    """Ablate or restore the clicked head; in the mode for masked edges, only choose the cross head."""
    if options.clicking == "head":
        put(toggle_edits(edits, [Ablate(*place, part)]))
    if part == "cross":
        keep_head(*place)


def chance(translation: Translation, edits: EditSet) -> None:
    """Draw the effects of random edit sets in the same stack as a null distribution; may raise UserError."""
    trace = translation.trace
    if not edits:
        return
    parts = {edit.part or trace.part for edit in edits}
    if len(parts) != 1:
        show_notice(_("To compare with random sets, edit only one part of the model."), "status")
        return
    [part] = parts
    keys = [at for at, special in enumerate(trace.token_rows(part)[1].special) if not special]
    sets = random_sets(edits, places_of(translation, part), keys, RANDOM_SETS, SEED)
    if len(sets) < 2:
        show_notice(_("There are no other sets of this size to compare with."), "status")
        return
    mine = effects(translation, [edits], _("Asking the model"))
    found = effects(translation, sets, _("Computing the random baseline"))
    if not len(mine.changes) or len(found.changes) < 2:
        return
    change, sizes = float(mine.changes[0]), np.abs(found.changes)
    show_notice(
        _(
            "Of {number} random sets of the same kind, {share:.0f} % change the probability less (median: factor"
            " {factor}); {turned} put another token first somewhere.",
            number=len(sizes),
            share=100 * float((sizes < abs(change)).mean()),
            factor=factor(float(np.median(sizes))),
            turned=int(found.others.sum()),
        ),
        "status",
    )
    figure = random_figure(found.changes, change, theme(), translate(UNIT))
    draw_chart(figure, "translate_random")
    st.caption(
        _(
            "Bars: random sets in the same part, with edges between the same positions (seed {seed})."
            " Line: the chosen set.",
            seed=SEED,
        )
    )
