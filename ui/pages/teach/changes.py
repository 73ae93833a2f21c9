"""The change of each head by fine-tuning, compared with models trained on shuffled labels: the view "What changed"."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from i18n import _, translate
from probing import fine_tuning_changes
from probing.text_pairs import Numbers
from training.jobs.job import CHANGES, CHARACTERS, JobStatus
from ui.input.controls import bound_widget, head_name
from ui.pages.teach.changes_effects import draw_used, on_head_click
from ui.pages.teach.changes_results import (
    HeadChanges,
    change_provenance,
    describe_changes,
    describe_head,
    describe_wait,
    heads_csv,
    heads_provenance,
    load_changes,
)
from ui.pages.teach.options import TeachOptions
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.microscope import draw_matrices, explore_link
from ui.show.tables import download_button
from ui.show.text import join_sentences
from ui.show.views import link_to_view
from ui.state.params import get_params
from ui.state.session import NEW_MODEL, get_view_state
from ui.state.view_state import ViewState, fits, to_query
from viz.components.matrices.matrices import MatrixSpec
from viz.figures.head_maps import head_map, mark_heads
from viz.figures.theme import sides, truncate
from viz.figures.training import DriftLine, by_layer, by_step

Place = tuple[int, int]
LONGEST = 80  # The list cuts a sentence after so many characters.


def draw_changes(look: JobStatus) -> None:
    """Draw the change of every head by the fine-tuning ``look``.

    If the comparison is unfinished or failed, or if no sentence has rows of the chosen kind, show a notice instead.
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
        show_notice(_("The sentences have no tagged word. Choose “All tokens”."), role="status")
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
        provenance=heads_provenance(look, found),
    )
    show_notice(describe_head(found, head), role="status")
    draw_head(look, found, head)
    draw_snapshots(look, found, head)
    draw_used(look, found, head)


def head_of(found: HeadChanges, options: TeachOptions) -> Place:
    """Return the (layer, head) in the address, else the head whose change exceeds the controls' most.

    The controls are models that were trained on shuffled labels.
    """
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
        (told.more.mean, _("Difference"), {"diverging": True, "meaning": (_("less"), _("more"))}),
    )
    note = _(
        "Cells: heads; Jensen–Shannon divergence of their maps before and after, mean over sentences. Control: "
        "two trainings on shuffled labels. Ring: larger than the control (two-sided permutation test, Holm) by "
        "{ahead:.1f} times the controls' largest difference.",
        ahead=fine_tuning_changes.AHEAD,
    )
    for number, (place, (values, title, more)) in enumerate(zip(st.columns(3), maps, strict=True)):
        figure = head_map(found.as_map(values), theme(), title, _("divergence (bits)"), **common, **more)
        if number == 0:
            mark_heads(figure, found.heads_beyond, "circle-open", theme(), "beyond controls")
        draw_chart(
            figure,
            f"changed_map_{number}",
            place=place,
            on_click=partial(on_head_click, found.shape[1]),
            about=partial(change_provenance, look, found),
            test=join_sentences(*describe_changes(found), note),
        )
    st.caption(note)


def _layers(look: JobStatus, found: HeadChanges) -> None:
    """Draw the mean change of each layer for the task and both controls, with 95 % intervals."""
    names = {
        "task": _("Task"),
        "twin": _("Control {n}", n=1),
        "other twin": _("Control {n}", n=2),
    }
    lines = [DriftLine(names[who], mean.mean, mean.low, mean.high) for who, mean in found.layers.items()]
    figure = by_layer(lines, theme(), _("Change by layer"))
    note = _("Mean over a layer's heads; 95% bootstrap intervals over sentences.")
    draw_chart(
        figure,
        "changed_layers",
        about=partial(change_provenance, look, found),
        test=join_sentences(describe_changes(found)[0], note),
    )
    st.caption(note)


def draw_head(look: JobStatus, found: HeadChanges, head: tuple[int, int]) -> None:
    """Draw the maps of ``head`` for the chosen sentence, with a widget to choose it and links to other pages."""
    facts = found.facts
    shown = facts.shown_sentences
    at = min(max(get_params(TeachOptions).example, 1), len(shown))
    bound_widget(
        TeachOptions,
        "example",
        st.selectbox,
        options=range(1, len(shown) + 1),
        shown=at,
        format_func=lambda number: f"{truncate(facts.sentences[shown[number - 1]].text, LONGEST)}",
    )
    seen = facts.sentences[shown[at - 1]]
    draw_matrices(
        head_matrices(found, head, shown[at - 1]),
        "changed_sheets",
        numbers=False,
        about=(("training", look.job.title), ("head", head_name(*head)), ("sentence", seen.text)),
    )
    there = {**NEW_MODEL, "pair": "", "text": seen.text, "layer": head[0], "head": head[1]}
    _links(look, replace(get_view_state(), **there))


def head_matrices(found: HeadChanges, head: tuple[int, int], sentence: int) -> list[MatrixSpec]:
    """Return four matrices of a head on a sentence: before, after, their difference, and the control's.

    The control was trained on shuffled labels, and its matrix is a difference, too. ``sentence`` is an index. Both maps
    share a colour scale, and so do both differences.
    """
    before, task, twin = (
        fine_tuning_changes.maps(found.folder, side, sentence)[head] for side in fine_tuning_changes.SIDES
    )
    less, more = sides(theme())
    names = found.facts.sentences[sentence].pieces or ()
    most = float(max(before.max(), task.max())) or None
    change = float(max(abs(task - before).max(), abs(twin - before).max())) or None
    about = _("Rows attend to columns, on one scale.")
    return [
        MatrixSpec(_("Before"), before, names, names, about, "sequential", most),
        MatrixSpec(_("After"), task, names, names, about, "sequential", most),
        MatrixSpec(
            _("After − before"),
            task - before,
            names,
            names,
            _(
                "{one}: more than before. {other}: less.",
                one=translate(more).capitalize(),
                other=translate(less).capitalize(),
            ),
            limit=change,
        ),
        MatrixSpec(_("Control − before"), twin - before, names, names, _("Shuffled-label control"), limit=change),
    ]


def _links(look: JobStatus, there: ViewState) -> None:
    """Draw links to this sentence and head on the pages Explore and Compare.

    Compare is offered only if the initial model can be opened.
    """
    job = look.job
    after = replace(there, model=job.name, revision="")
    with st.container(horizontal=True):
        explore_link(after)
        before = replace(there, model=job.model, revision=job.revision or "")
        if job.model != CHARACTERS and fits(before):
            beside = {"differs": "model", "beside": job.name}
            link_to_view(
                "compare",
                _("Compare models"),
                icon=":material/compare:",
                query={**to_query(before), **beside},
            )


def draw_snapshots(look: JobStatus, found: HeadChanges, head: tuple[int, int]) -> None:
    """Draw the change of all heads and the map of ``head`` at the chosen step of the training.

    Draw nothing if no snapshots were recorded.
    """
    film = fine_tuning_changes.film(found.folder)
    if film is None:
        return
    st.header(_("Change over training"))
    steps = film.steps
    frame = min(max(get_params(TeachOptions).frame or len(steps), 1), len(steps)) - 1
    if len(steps) > 1:
        bound_widget(
            TeachOptions,
            "frame",
            st.select_slider,
            options=range(1, len(steps) + 1),
            shown=frame + 1,
            format_func=lambda number: f"{steps[number - 1]:,}",
        )
    values, name = film.bits[found.rows], head_name(*head)
    recorded = {"sentences": len(found.facts.shown_sentences), "step": steps[frame]}

    def provenance() -> dict[str, Any]:
        return {**change_provenance(look, found), **recorded, "controls": None}

    left, right = st.columns(2)
    title = _("Step {step:,}", step=steps[frame])
    limit = max(float(values.max()), 1e-6)
    figure = head_map(values[frame], theme(), title, _("divergence (bits)"), selected=head, limit=limit)
    draw_chart(figure, "changed_film_map", place=left, about=provenance)
    figure = by_step(
        steps, values.mean(axis=(1, 2)), (name, values[:, head[0], head[1]]), theme(), _("Change over training"),
        frame=frame, kept=found.facts.step,
    )  # fmt: skip
    draw_chart(figure, "changed_film_line", place=right, about=provenance)
    seen = found.facts.sentences[found.facts.shown_sentences[0]]
    names = seen.pieces or ()
    maps = film.maps[:, head[0], head[1]].astype("float32")
    about = f"{name} · {seen.text}"
    sheet = MatrixSpec(_("Step {step:,}", step=steps[frame]), maps[frame], names, names, about, "sequential",
                  float(maps.max()) or None)  # fmt: skip
    draw_matrices(
        [sheet],
        "changed_film_sheet",
        numbers=False,
        about=(("training", look.job.title), ("head", name), ("step", str(steps[frame])), ("sentence", seen.text)),
    )
    st.caption(
        _(
            "Mean over {n} sentences. Dotted: the step that was kept.",
            n=len(found.facts.shown_sentences),
        )
    )
