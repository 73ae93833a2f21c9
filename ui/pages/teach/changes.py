"""Teach page, view "What changed": the change of each head, against shuffled-label controls."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from i18n import _
from probing import fine_tuning_changes
from probing.text_pairs import Numbers
from training.jobs.job import CHANGES, JobStatus
from ui.input.controls import bound_widget
from ui.pages.teach.changes_descriptions import describe_changes, describe_head, describe_wait
from ui.pages.teach.changes_effects import draw_used
from ui.pages.teach.changes_files import change_provenance, heads_csv
from ui.pages.teach.changes_head import draw_head, on_head_click
from ui.pages.teach.changes_results import HeadChanges, load_changes
from ui.pages.teach.changes_snapshots import draw_snapshots
from ui.pages.teach.options import TeachOptions
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.tables import download_button
from ui.state.params import get_params
from viz.figures.head_maps import head_map, mark_heads
from viz.figures.training import DriftLine, by_layer

Place = tuple[int, int]


def draw_changes(look: JobStatus) -> None:
    """Draw the change of every head for the training ``look``.

    Show a notice instead if the comparison is unfinished or failed, or if no sentence has rows of the chosen kind.
    """
    folder = look.folder / CHANGES
    if not fine_tuning_changes.is_complete(folder):
        show_notice(describe_wait(look), role="status")
        return
    if why := fine_tuning_changes.failure_reason(folder):
        show_notice(why, role="status")
        return
    bound_widget(TeachOptions, "rows", st.segmented_control, required=True)
    options = get_params(TeachOptions)
    found = load_changes(folder, options.rows)
    if found is None:
        show_notice(_("No compared sentence has a tagged word. Choose “All tokens”."), role="status")
        return
    for line in describe_changes(found):
        show_notice(line, role="status")
    if found.facts.step == 0:
        return
    head = head_of(found, options)
    _maps(look, found, head)
    _layers(look, found)
    download_button(
        _("Save all heads"),
        heads_csv(found),
        "headlight-changed-heads.csv",
        _("All digits"),
        provenance=change_provenance(look, found),
    )
    show_notice(describe_head(found, head), role="status")
    draw_head(look, found, head)
    draw_snapshots(look, found, head)
    draw_used(look, found, head)


def head_of(found: HeadChanges, options: TeachOptions) -> Place:
    """Return the (layer, head) in the address, else the head with the largest lead over the controls."""
    asked = options.moved
    if asked is None or asked >= found.ahead.size:
        asked = int(found.ahead.argmax())
    return found.place(asked)


def _maps(look: JobStatus, found: HeadChanges, head: Place) -> None:
    """Draw three head maps: the task and the controls on a shared scale, and their difference.

    A click on a cell selects the head. Rings mark the heads that moved beyond chance.
    """
    told = found.across
    common: dict[str, Any] = {"selected": head}
    limit = max(float(told.change.mean.max()), float(told.control.mean.max()), 1e-6)
    maps: tuple[tuple[Numbers, str, dict[str, Any]], ...] = (
        (told.change.mean, _("Task"), {"limit": limit}),
        (told.control.mean, _("Shuffled-label control"), {"limit": limit}),
        (told.more.mean, _("Difference"), {"diverging": True, "meaning": (_("less than the control"), _("more"))}),
    )
    for number, (place, (values, title, more)) in enumerate(zip(st.columns(3), maps, strict=True)):
        figure = head_map(found.as_map(values), theme(), title, _("divergence (bits)"), **common, **more)
        if number == 0:
            mark_heads(figure, found.heads_beyond, "circle-open", theme())
        draw_chart(
            figure,
            f"changed_map_{number}",
            place=place,
            on_click=partial(on_head_click, found.shape[1]),
            about=partial(change_provenance, look, found),
        )
    st.caption(
        _(
            "Each cell is a head: Jensen–Shannon divergence of its maps before and after, mean over "
            "sentences. Control: two trainings on shuffled labels. Ring: larger than the control (two-sided "
            "permutation test, Holm) by {ahead:.1f} times the controls' largest difference. With nothing to "
            "learn, at most 5 in 100 trainings show a ring.",
            ahead=fine_tuning_changes.AHEAD,
        )
    )


def _layers(look: JobStatus, found: HeadChanges) -> None:
    """Draw the mean change of each layer for the task and both controls, with 95 % intervals."""
    names = {
        "task": _("the task"),
        "twin": _("control 1"),
        "other twin": _("control 2"),
    }
    lines = [DriftLine(names[who], mean.mean, mean.low, mean.high) for who, mean in found.layers.items()]
    figure = by_layer(lines, theme(), _("Change by layer"))
    draw_chart(figure, "changed_layers", about=partial(change_provenance, look, found))
    st.caption(_("Mean over a layer's heads; 95 % bootstrap intervals over sentences."))
