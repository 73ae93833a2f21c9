"""Recorded runs of an LSTM, a convolutional network and a Transformer of similar sizes."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import streamlit as st

from i18n import _, gettext_lazy, translate
from training.jobs.baseline_runs import (
    DEEP,
    DEEP_STEPS,
    DEEP_TASK,
    LAYERS,
    LOOKED_BACK,
    MODELS,
    PARTS,
    SEEDS,
    STEPS,
    TASKS,
    TRAINED,
    RecordedRuns,
    gradient_norms,
    mean_shares,
    read,
    shares,
)
from ui.input.controls import bound_widget
from ui.pages.why_attention import descriptions as said
from ui.pages.why_attention.descriptions import BEYOND, MOMENTS, WITHIN, WITHOUT, WhyAttentionOptions
from ui.run.notices import show_notice
from ui.show.chart import draw_chart, theme
from ui.show.sections import open_section
from ui.show.tables import csv_table, download_button
from ui.show.text import format_comma_list, join_sentences
from viz.figures.theme import Figure
from viz.figures.training import Curve, ablated_parts, seeds
from viz.paper.notebook import Computation

ASKED = {
    "copying": gettext_lazy(
        "Eight of sixteen letters, a gap, a mark, and the letters again, each predicted before it is read. "
        "Distance: from a letter to its repetition."
    ),
    "recall": gettext_lazy(
        "Five pairs of a key and a value, one token each, and blanks: `b3 · a7 d1 · b?` is answered "
        "with 3. Distance: from pair to question."
    ),
    "order": gettext_lazy(
        "Two marked letters, at most six tokens apart: which came first? Distance: from the later one to the question."
    ),
    "parity": gettext_lazy(
        "Zeros and ones: is the number of ones so far odd? Distance: the length of the text, whose last answer counts."
    ),
}
KEY = "why_recorded"  # session key of the section, True while it is open
LAST_DRAWN = "why_recorded_options"  # session key of the task and the moment that were drawn last
UNIT = gettext_lazy("accuracy")
# The numbers of a curve's seeds and of their mean, and those of ablations at trained distances and beyond.
CURVES = """\
values = [{values} for model in models]
numbers = np.concatenate([[*rows, rows.mean(axis=0)] for rows in values])"""
NORMS = "np.array([np.where(norms > 0, norms, np.nan) for norms in gradient_norms({runs}, when)])"
WITHOUT_PARTS = """\
kinds = zip(*(mean_shares(recorded.runs_of(task, "transformer", part, layers)) for part in parts), strict=True)
numbers = [value for kind in kinds for value in (*np.concatenate(kind), *(one.mean() for one in kind))]"""


@cache
def load_recorded() -> RecordedRuns:
    """Load the runs that are shipped with the app (assets/rivals/README.md); the result is cached."""
    return read()


def _computation(code: str, **names: Any) -> Computation:
    """Return a computation from ``recorded``, the recorded runs, of the networks ``models``."""
    known = {"read": read, "models": list(MODELS), "shares": shares, "mean_shares": mean_shares}
    return Computation(f"recorded = read()\n{code}", **known, gradient_norms=gradient_norms, **names)


def draw_recorded(options: WhyAttentionOptions) -> None:
    """Draw the section of the recorded runs; a change of their task or moment from outside opens it.

    Such a change is a link, a teacher's step, or the browser's back button. The widgets of the task and the moment are
    in the section, so it is open already if a visitor changes them.
    """
    state, drawn = st.session_state, (options.task, options.when)
    usual = (WhyAttentionOptions.task, WhyAttentionOptions.when)
    if drawn != usual and (KEY not in state or state.get(LAST_DRAWN) != drawn):
        state[KEY] = True
    state[LAST_DRAWN] = drawn
    if section := open_section(_("Trained networks"), KEY):
        with section:
            _draw_runs(options)


def _draw_runs(options: WhyAttentionOptions) -> None:
    """Draw the widgets, descriptions and figures of the recorded runs."""
    found = load_recorded()
    st.caption(describe_networks(found))
    with st.container(horizontal=True):
        bound_widget(WhyAttentionOptions, "task", st.segmented_control, required=True)
        bound_widget(WhyAttentionOptions, "when", st.segmented_control, required=True)
    st.caption(translate(ASKED[options.task]))
    result = join_sentences(said.accuracy(found, options.task), said.describe_reach(found, options.task))
    show_notice(result, "status")
    _by_distance(found, options, result)
    show_notice(said.describe_gradients(found, options.task, options.when), "status")
    show_notice(join_sentences(said.describe_winners(found), said.describe_clear()), "status")
    _parts(found, options.task)
    _time(found)
    _table(found)


def describe_networks(found: RecordedRuns) -> str:
    """Return sentences on the recorded networks: layers, numbers of parameters, training steps and seeds."""
    return _(
        "An LSTM of one layer ({lstm} parameters), three convolutions ({convolution}), a Transformer of two "
        "layers with four heads ({transformer}). {steps:,} steps of 64 texts, seeds {seeds} (docs/TRAINING.md).",
        **_sizes(found),
        steps=STEPS,
        seeds=format_comma_list(list(map(str, SEEDS))),
    )


def describe_test() -> str:
    """Return sentences on the test texts of each distance, and on the gradient norms."""
    return _(
        "Thin lines: seeds; thick: their means. Answers: 256 unseen texts per distance. Norm: "
        "gradient of the answer's score (minus the mean) by each token's vector, mean over 64 "
        "texts at distance {looked_back}, without zeros.",
        looked_back=LOOKED_BACK,
    )


def runs_provenance(task: str, **settings: Any) -> dict[str, Any]:
    """Return the provenance of numbers of trained networks: the task and its longest trained distance."""
    return {"data": f"generated texts of the task “{task}”", "longest_trained_distance": TRAINED, **settings}


def recorded_provenance() -> dict[str, Any]:
    """Return the provenance of the accuracies of all recorded runs, with definitions of the table's columns."""
    return {
        "data": "recorded networks on generated texts (assets/rivals)",
        "tasks": list(TASKS),
        "networks": list(MODELS),
        "seeds": list(SEEDS),
        "longest_trained_distance": TRAINED,
        "texts_per_step": 64,
        "numbers": "parameters of the network",
        "answered_rightly": "share of 256 unseen texts at this distance",
    }


def _sizes(found: RecordedRuns) -> dict[str, str]:
    """Return the parameter counts of each network, as ranges over the tasks."""
    ranges = {}
    for model in MODELS:
        sizes = sorted(found.runs_of(task, model)[0].numbers for task in TASKS)
        ranges[model] = f"{sizes[0]:,}–{sizes[-1]:,}"
    return ranges


def _by_distance(found: RecordedRuns, options: WhyAttentionOptions, result: str) -> None:
    """Draw the accuracy by distance, and the gradient norm of the last answer by tokens back.

    ``result`` are the sentences on the accuracies.
    """
    left, right = st.columns(2)
    networks, note = describe_networks(found), describe_test()
    asked = translate(ASKED[options.task])
    runs = {model: found.runs_of(options.task, model) for model in MODELS}
    curves = [Curve(said.name_of(m), [at for at, _ in some[0].accuracy], shares(some)) for m, some in runs.items()]
    figure = seeds(curves, theme(), _("Accuracy by distance"), _("Distance (tokens)"), translate(UNIT),
                   trained=TRAINED, chance=runs[MODELS[0]][0].chance)  # fmt: skip
    drawn = "recorded.runs_of(task, model)"
    computation = _computation(CURVES.format(values=f"shares({drawn})"), task=options.task)
    figure.update_yaxes(range=[0, 1.02])
    about = partial(runs_provenance, options.task)
    test = join_sentences(asked, networks, note, result)
    draw_chart(figure, "why_accuracy", place=left, about=about, computation=computation, test=test)
    values = {model: gradient_norms(some, options.when) for model, some in runs.items()}
    curves = [Curve(said.name_of(m), list(range(each.shape[1])), each) for m, each in values.items()]
    title = f"{_('Gradient')}: {translate(MOMENTS[options.when])}"
    figure = seeds(curves, theme(), title, _("Distance (tokens)"), _("norm of the gradient"), logarithmic="y")
    code = CURVES.format(values=NORMS.format(runs=drawn))
    computation = _computation(code, task=options.task, when=options.when)
    about = partial(runs_provenance, options.task, gradient=options.when)
    test = join_sentences(asked, networks, note, said.describe_gradients(found, options.task, options.when))
    draw_chart(figure, "why_gradient", place=right, about=about, computation=computation, test=test)
    st.caption(note)


def _parts(found: RecordedRuns, task: str) -> None:
    """Draw ablations of the Transformer: on the chosen task, and of a deeper Transformer on DEEP_TASK."""
    asked = ((task, LAYERS, "why_parts"), (DEEP_TASK, DEEP, "why_deep_parts"))
    near_and_far = (translate(WITHIN), translate(BEYOND))
    trained = _(
        "Each was trained without one part. Open marks: seeds; filled: means. "
        "The deep one has one task and {deep_steps} steps.",
        deep_steps=DEEP_STEPS,
    )
    note = join_sentences(trained, said.describe_clear())
    results = []
    for column, (one, layers, key) in zip(st.columns(2), asked, strict=True):
        kinds: dict[str, dict[str, list[float]]] = {kind: {} for kind in near_and_far}
        for off in ("", *PARTS):
            runs = found.runs_of(one, "transformer", off, layers)
            for kind, values in zip(near_and_far, mean_shares(runs), strict=True):
                kinds[kind][translate(WITHOUT[off])] = values.tolist()
        chance = found.runs_of(one, "transformer")[0].chance
        title = _("Without a part, {layers} layers: {task}", layers=layers, task=said.title_of(one).lower())
        figure = ablated_parts(kinds, theme(), title, translate(UNIT), chance)
        computation = _computation(WITHOUT_PARTS, task=one, layers=layers, parts=["", *PARTS])
        results.append(
            _(
                "{task}, {layers} layers. {ablated}",
                task=said.title_of(one),
                layers=layers,
                ablated=said.describe_ablation(found, one, layers),
            )
        )
        test = join_sentences(translate(ASKED[one]), describe_networks(found), note, results[-1])
        about = partial(runs_provenance, one, layers=layers)
        draw_chart(figure, key, place=column, about=about, computation=computation, test=test)
    for result in results:
        show_notice(result, "status")
    st.caption(note)


def _time(found: RecordedRuns) -> None:
    """Draw the time of a training step over the length of the texts."""
    computation = _computation("numbers = [[ms for _, ms in recorded.times[model]] for model in models]")
    result = said.describe_growth(found)
    note = _("Sixteen texts forward and backward, the shortest of five times on one thread.")
    draw_chart(times(found), "why_times", about=dict, computation=computation, test=join_sentences(note, result))
    show_notice(result, "status")
    st.caption(note)


def times(found: RecordedRuns) -> Figure:
    """Return a figure of the milliseconds of a training step by text length, with a line for each network."""
    curves = [
        Curve(said.name_of(model), [n for n, _ in points], np.array([[ms for _, ms in points]]))
        for model, points in found.times.items()
    ]
    title = _("Time per step")
    return seeds(curves, theme(), title, _("Tokens n"), _("milliseconds"), logarithmic="xy")


def _table(found: RecordedRuns) -> None:
    """Draw a download button for the accuracies of all recorded runs as CSV."""
    lines = [
        (
            run.task,
            run.model,
            run.layers if run.model == "transformer" else "",
            run.off,
            run.seed,
            run.steps,
            run.numbers,
            distance,
            share,
        )
        for run in found.runs
        for distance, share in run.accuracy
    ]
    names = (
        "task",
        "network",
        "layers",
        "switched off",
        "seed",
        "steps",
        "numbers",
        "distance",
        "answered rightly",
    )
    about = _("Recorded accuracy by distance")
    download_button(_("Save as CSV"), csv_table(names, lines), "headlight-rivals.csv", about, key="save_recorded_runs",
                    provenance=recorded_provenance())  # fmt: skip
