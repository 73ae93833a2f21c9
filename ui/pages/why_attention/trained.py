"""Trained side by side: what an LSTM, convolutions and a Transformer with as many numbers learn, from recorded runs."""

from __future__ import annotations

from functools import cache

import numpy as np
import streamlit as st

from training.jobs import rivals
from training.jobs.rivals import (
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
    Recorded,
)
from ui.input.picking import control
from ui.pages.why_attention import told
from ui.pages.why_attention.options import WHEN, Options
from ui.pages.why_attention.told import BEYOND, NAMES, TITLES, WITHIN, WITHOUT
from ui.places import ASSETS
from ui.run.refusals import say
from ui.show.chart import draw_chart, theme
from ui.show.csv_table import csv_table
from ui.show.saving import save
from viz.figures.parts import parts
from viz.figures.seeds import Curve, seeds
from viz.figures.theme import Figure

ASKED = {
    "copying": "Eight different letters out of sixteen, a gap, a mark, and the letters once more, each to be told "
    "before it is read. The distance is from a letter to where it is asked for.",
    "recall": "Five keys with a value each, a pair one token, and blanks between: `b3 · a7 d1 · b?` is to be answered "
    "with 3. The distance is from the pair to its question.",
    "order": "Two marked letters among others; at the end it is asked which of them came first. They lie at most six "
    "tokens apart; the distance is from the later one to the question.",
    "parity": "Zeros and ones; at each place it is asked whether the ones up to here are odd in number. The distance "
    "is the length of the text, whose last answer counts.",
}
MOMENTS = dict(zip(WHEN, ("Before training", "After training"), strict=True))
UNIT = "share answered rightly"


@cache
def recorded() -> Recorded:
    """The runs that come along (assets/rivals/README.md)."""
    return rivals.read(ASSETS / "rivals" / rivals.FILE)


def trained(options: Options) -> None:
    """The task, what is told of it, and its figures."""
    found = recorded()
    st.subheader("Trained side by side")
    st.caption(
        f"{_sizes(found)}, trained on the same texts for {STEPS:,} steps of 64 texts, each with the seeds "
        f"{', '.join(map(str, SEEDS))}. The runs are recorded; docs/TRAINING.md has the command that makes them anew."
    )
    with st.container(horizontal=True):
        control(Options, "task", st.segmented_control, "Task", list(TASKS), format_func=TITLES.get, required=True,
                help="What the three networks are trained on")  # fmt: skip
        control(Options, "when", st.segmented_control, "Gradient", list(WHEN), format_func=MOMENTS.get, required=True,
                help="With random numbers, or with those that were learned")  # fmt: skip
    st.caption(ASKED[options.task])
    say(f"{told.accuracy(found, options.task)} {told.reach(found, options.task)}", "status")
    _by_distance(found, options)
    say(told.gradients(found, options.task, options.when), "status")
    say(told.better(found), "status")
    _parts(found, options.task)
    _time(found)
    _table(found)


def _sizes(found: Recorded) -> str:
    """The three networks by their names and how many numbers they learn, as the tasks' vocabularies have it."""
    said = []
    for model, what in zip(
        MODELS,
        (
            "An LSTM of one layer",
            "three layers of convolutions",
            "a Transformer of two layers with four heads",
        ),
        strict=True,
    ):
        sizes = sorted(found.of(task, model)[0].numbers for task in TASKS)
        said.append(f"{what} ({sizes[0]:,}–{sizes[-1]:,} numbers)")
    return f"{said[0]}, {said[1]} and {said[2]}"


def _by_distance(found: Recorded, options: Options) -> None:
    """Answers, and the last answer's gradient, by distance."""
    left, right = st.columns(2)
    runs = {model: found.of(options.task, model) for model in MODELS}
    curves = [Curve(NAMES[m], [at for at, _ in some[0].accuracy], told.shares(some)) for m, some in runs.items()]
    figure = seeds(curves, theme(), "How far back can it be?", "Distance (tokens)", UNIT,
                   trained=TRAINED, chance=runs[MODELS[0]][0].chance)  # fmt: skip
    draw_chart(figure.update_yaxes(range=[0, 1.02]), "why_accuracy", place=left)
    values = {model: told.rows(some, options.when) for model, some in runs.items()}
    curves = [Curve(NAMES[m], list(range(each.shape[1])), each) for m, each in values.items()]
    title = f"What does the last answer hang on? {MOMENTS[options.when]}"
    figure = seeds(curves, theme(), title, "Tokens back from the last", "norm of the gradient", logarithmic="y")
    draw_chart(figure, "why_gradient", place=right)
    st.caption(
        "Thin lines are seeds, thick ones their means. Answers: 256 texts that no training had, at each distance. "
        "Gradient: of the answer's score, above the mean of all scores, with respect to each token's vector; its norm, "
        f"the mean over 64 texts at distance {LOOKED_BACK}; what is exactly 0 is not drawn."
    )


def _parts(found: Recorded, task: str) -> None:
    """The Transformer with one part switched off: of the chosen task, and a deep one's."""
    asked = ((task, LAYERS, "why_parts"), (DEEP_TASK, DEEP, "why_deep_parts"))
    for column, (one, layers, key) in zip(st.columns(2), asked, strict=True):
        kinds: dict[str, dict[str, list[float]]] = {WITHIN: {}, BEYOND: {}}
        for off in ("", *PARTS):
            runs = found.of(one, "transformer", off, layers)
            for kind, values in zip((WITHIN, BEYOND), told.parted(runs), strict=True):
                kinds[kind][WITHOUT[off]] = values.tolist()
        chance = found.of(one, "transformer")[0].chance
        title = f"Without a part, {layers} layers: {TITLES[one].lower()}"
        draw_chart(parts(kinds, theme(), title, UNIT, chance), key, place=column)
    for one, layers, _ in asked:
        say(f"{TITLES[one]}, {layers} layers. {told.ablated(found, one, layers)}", "status")
    st.caption(
        "Each part of the Transformer was switched off alone, and the rest trained from the beginning. Open marks are "
        f"seeds, filled ones their means. The deep one was recorded on one task, in {DEEP_STEPS} steps: what a stack "
        "of two layers does without, a deeper one may need."
    )


def _time(found: Recorded) -> None:
    """How long a step takes by the texts' length."""
    draw_chart(times(found), "why_times")
    say(told.growth(found), "status")
    st.caption(
        "Sixteen texts read forward and backward, the shortest of five times on one processor thread, when the runs "
        "were recorded. Train one below, and this machine is measured."
    )


def times(found: Recorded, title: str = "How long does a step take?") -> Figure:
    """Milliseconds over tokens, one line a network."""
    curves = [
        Curve(NAMES[model], [n for n, _ in points], np.array([[ms for _, ms in points]]))
        for model, points in found.times.items()
    ]
    return seeds(curves, theme(), title, "Tokens of a text", "milliseconds", logarithmic="xy")


def _table(found: Recorded) -> None:
    """Every run's answers as a file."""
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
    names = ("task", "network", "layers", "switched off", "seed", "steps", "numbers", "distance", "answered rightly")
    about = "Every recorded run: the share of right answers at each distance"
    save("Save the runs as CSV", csv_table(names, lines), "headlight-rivals.csv", about)
