"""Ablation curve: heads removed greedily, by the least or largest effect, compared with random orders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention.edits import Ablate, EditSet
from attention.mask import FloatArray
from i18n import _, gettext_lazy
from ui.ablation.edits import Head
from ui.ablation.effects import SEED
from ui.input.controls import bound_widget
from ui.pages.cause.metric import AblationExperiment
from ui.pages.cause.options import CauseOptions
from ui.run.notices import show_notice
from ui.run.progress import stoppable_steps
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button, page_provenance
from ui.show.text import times
from ui.state.params import set_params
from viz.figures.evaluation import removal_curve

ORDERS = 5
MOST_STEPS = 72
LINE = {
    "least": gettext_lazy(
        "Dots: at each step the head that changes the answer least. Dashed: mean and range of {orders} random "
        "orders (seed {seed})."
    ),
    "most": gettext_lazy(
        "Dots: at each step the head that changes the answer most. Dashed: mean and range of {orders} random "
        "orders (seed {seed})."
    ),
}


def curve(case: AblationExperiment) -> None:
    """Draw the controls, and the curve once the reader has requested it."""
    st.subheader(_("Ablation curve"))
    many = len(case.places)
    steps = min(many, case.options.steps or min(many, MOST_STEPS))
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="bottom")
    bound_widget(CauseOptions, "greedy", left.segmented_control, required=True)
    bound_widget(CauseOptions, "steps", middle.number_input, min_value=1, max_value=many, shown=steps)
    if not case.options.curve:
        right.button(
            _("Draw the curve"),
            on_click=lambda: set_params(CauseOptions, curve=True),
            help=_("Starts the computation; it can be stopped and resumed."),
        )
        return
    order, numbers = _greedy_order(case, steps)
    random = _random(case, steps)
    _draw(case, order, numbers, random)


def _greedy_order(case: AblationExperiment, steps: int) -> tuple[list[Head], list[float]]:
    """Return the heads in the order of their removal, and the metric before and after each removal.

    The lists are shorter if the reader stops early.
    """
    gone: list[Head] = []
    numbers: list[float] = []
    mark = f"greedy:{case.options.greedy}:{steps}:{case.watch.question.key}"
    for _step in stoppable_steps(mark, steps, _("Ablating each head")):
        left = [place for place in case.places if place not in gone]
        sets: list[EditSet] = [(), *(_set([*gone, place]) for place in left)]
        found = case.watch.numbers(case.watch.ask(sets))
        changes = np.abs(found[1:] - found[0])
        at = int(changes.argmin() if case.options.greedy == "least" else changes.argmax())
        numbers = numbers or [float(found[0])]
        numbers.append(float(found[1 + at]))
        gone.append(left[at])
    return gone, numbers


def _set(places: Sequence[Head]) -> EditSet:
    return tuple(Ablate(*place) for place in sorted(places))


def _random(case: AblationExperiment, steps: int) -> FloatArray:
    """Return the metric during removal in random orders, (order, step); no orders if the reader stopped."""
    generator = np.random.default_rng(SEED)
    orders = [[case.places[at] for at in generator.permutation(len(case.places))] for _ in range(ORDERS)]
    sets = [_set(order[: step + 1]) for order in orders for step in range(steps)]
    found = case.watch.changes(sets, case.tokens, _("Computing the random baseline"))
    if len(found) < len(sets):
        return np.zeros((0, steps + 1), np.float32)
    whole = float(case.watch.numbers(case.watch.ask([()]))[0])
    after = whole + found.reshape(ORDERS, steps)
    return np.concatenate([np.full((ORDERS, 1), whole, np.float32), after], axis=1)


def _draw(case: AblationExperiment, order: Sequence[Head], numbers: Sequence[float], random: FloatArray) -> None:
    if not order:
        return
    values, names = np.array(numbers), [case.name(place) for place in order]
    show_notice(_verdict(case, values, random), role="status")
    figure = removal_curve(values, names, random, theme(), _("Ablation curve"), case.watch.unit)
    draw_chart(figure, "cause_curve")
    st.caption(_(LINE[case.options.greedy], orders=len(random), seed=SEED))
    rows = [(step, name, float(value)) for step, (name, value) in enumerate(zip(["", *names], values, strict=True))]
    columns = [f"random order {at + 1}" for at in range(len(random))]
    table = [(*row, *(float(one[row[0]]) for one in random)) for row in rows]
    download_button(
        _("Save the table"),
        csv_table(["heads removed", "last removed", case.watch.unit, *columns], table),
        "headlight-removal-curve.csv",
        _("Both curves as CSV"),
        key="cause_save_curve",
        provenance=page_provenance(),
    )


def _verdict(case: AblationExperiment, values: FloatArray, random: FloatArray) -> str:
    """Describe how the answer changes along the curve, compared with the random orders."""
    steps = len(values) - 1
    half = steps // 2
    if case.watch.names:
        turned = np.flatnonzero(np.sign(values) != np.sign(values[0]))
        when = (
            _("after {turned} heads the other answer is favoured", turned=turned[0])
            if turned.size
            else _("the same answer is favoured after all {steps}", steps=steps)
        )
        said = _(
            "At first {whole}, after {half} heads {then}; {when}.",
            whole=times(float(values[0]), *case.watch.names),
            half=half,
            then=times(float(values[half]), *case.watch.names),
            when=when,
        )
        if not random.size:
            return said
        average = times(float(random[:, half].mean()), *case.watch.names)
        return _("{said} In random orders, on average, {average} by then.", said=said, average=average)
    beside = _(" (at random {mean:.2f} on average)", mean=random[:, half].mean()) if random.size else ""
    return _(
        "After {half} of {heads} heads the sentence vector is still {like:.2f} like the whole model's{beside}, after"
        " {steps} heads {last:.2f}: 1 is the same, 0 nothing in common.",
        half=half,
        heads=len(case.places),
        like=values[half],
        beside=beside,
        steps=steps,
        last=values[-1],
    )
