"""Ablation curve: heads ablated one after another, by the least or largest effect, and in random orders."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from attention.edits import EditSet, ablation_set, random_orders, removal_sets
from attention.mask import FloatArray
from i18n import _, typeset_number
from ui.ablation.edits import Head
from ui.ablation.effects import SEED
from ui.input.controls import bound_widget
from ui.pages.cause.metric import AblationExperiment
from ui.pages.cause.options import CauseOptions
from ui.run.notices import show_notice
from ui.run.progress import stoppable_steps
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_table
from ui.show.text import join_sentences, times
from ui.state.params import set_params
from viz.figures.evaluation import removal_curve
from viz.paper.notebook import Computation

ORDERS = 5
MOST_STEPS = 72
CURVES = """\
after = metric[1:].reshape(-1, len(order))
chosen, *random = np.column_stack([np.full(len(after), metric[0]), after])
numbers = [*np.max(random, axis=0), *np.min(random, axis=0)[::-1], *np.mean(random, axis=0), *chosen]"""


def curve(case: AblationExperiment) -> None:
    """Draw the widgets of the ablation curve, and the curve once the reader has started it."""
    st.header(_("Ablation curve"))
    many = len(case.places)
    steps = min(many, case.options.steps or min(many, MOST_STEPS))
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="bottom")
    bound_widget(CauseOptions, "greedy", left.segmented_control, required=True)
    bound_widget(CauseOptions, "steps", middle.number_input, min_value=1, max_value=many, shown=steps)
    if not case.options.curve:
        right.button(
            _("Draw the curve"),
            on_click=lambda: set_params(CauseOptions, curve=True),
            help=_("The run can be stopped and continued."),
        )
        return
    order, numbers = _greedy_order(case, steps)
    random = _random(case, steps)
    _draw(case, order, numbers, random, _computation(case, order, steps) if random.size else None)


def _computation(case: AblationExperiment, order: Sequence[Head], steps: int) -> Computation | None:
    """Return the computation of the curves; None if the reader stopped. The order of the heads is that of the page."""
    if len(order) < steps:
        return None
    sets = f"removal_sets([order, *random_orders(heads, {ORDERS}, {SEED})], {steps})"
    begun = case.watch.computation(
        sets, "metric", order=list(order), random_orders=random_orders, removal_sets=removal_sets
    )
    return begun.then(CURVES)


def _greedy_order(case: AblationExperiment, steps: int) -> tuple[list[Head], list[float]]:
    """Return the heads in the order of their removal, and the metric before and after each removal.

    The lists are shorter if the reader stops early.
    """
    gone: list[Head] = []
    numbers: list[float] = []
    mark = f"greedy:{case.options.greedy}:{steps}:{case.watch.question.key}"
    for _step in stoppable_steps(mark, steps, _("Ablating each head")):
        left = [place for place in case.places if place not in gone]
        sets: list[EditSet] = [(), *(ablation_set([*gone, place]) for place in left)]
        found = case.watch.numbers(case.watch.ask(sets))
        changes = np.abs(found[1:] - found[0])
        at = int(changes.argmin() if case.options.greedy == "least" else changes.argmax())
        numbers = numbers or [float(found[0])]
        numbers.append(float(found[1 + at]))
        gone.append(left[at])
    return gone, numbers


def _random(case: AblationExperiment, steps: int) -> FloatArray:
    """Return the metric during removal in random orders, (order, step); no orders if the reader stopped."""
    sets = removal_sets(random_orders(case.places, ORDERS, SEED), steps)
    found = case.watch.changes(sets, case.view.trace, _("Computing the comparison"))
    if len(found) < len(sets):
        return np.zeros((0, steps + 1), np.float32)
    whole = float(case.watch.numbers(case.watch.ask([()]))[0])
    after = whole + found.reshape(ORDERS, steps)
    return np.concatenate([np.full((ORDERS, 1), whole, np.float32), after], axis=1)


def _draw(
    case: AblationExperiment,
    order: Sequence[Head],
    numbers: Sequence[float],
    random: FloatArray,
    computation: Computation | None,
) -> None:
    if not order:
        return
    values, names = np.array(numbers), [case.name(place) for place in order]
    show_notice(_verdict(case, values, random), role="status")
    figure = removal_curve(values, names, random, theme(), _("Ablation curve"), case.watch.unit)
    note = _(
        "Ablated heads' outputs are zero. Random orders: {orders}, seed {seed}.",
        orders=len(random),
        seed=SEED,
    )
    effect = {"least": "smallest", "most": "largest"}[case.options.greedy]
    about = partial(
        case.provenance,
        is_edited=False,
        heads=len(case.places),
        each_step_ablates=f"the head that makes the total effect {effect}",
    )
    draw_chart(figure, "cause_curve", about=about, computation=computation, test=note)
    st.caption(note)
    rows = [(step, name, float(value)) for step, (name, value) in enumerate(zip(["", *names], values, strict=True))]
    columns = [f"random order {at + 1}" for at in range(len(random))]
    table = [(*row, *(float(one[row[0]]) for one in random)) for row in rows]
    names = ["heads ablated", "last ablated", case.watch.unit, *columns]
    download_table(csv_table(names, table), "headlight-ablation-curve.csv", key="cause_save_curve",
                   provenance=about() | random_orders_provenance(len(random)))  # fmt: skip


def random_orders_provenance(orders: int) -> dict[str, int]:
    """Return the number of random orders and their seed, for a provenance; {} without random orders."""
    return {"random_orders": orders, "random_orders_seed": SEED} if orders else {}


def _verdict(case: AblationExperiment, values: FloatArray, random: FloatArray) -> str:
    """Describe how the answer changes along the curve, compared with the random orders."""
    steps = len(values) - 1
    half = steps // 2
    if case.watch.names:
        said = [
            _(
                "With {edits}, {after}; before, {before}.",
                edits=_("{many} heads ablated", many=half),
                after=times(float(values[half]), *case.watch.names),
                before=times(float(values[0]), *case.watch.names),
            )
        ]
        turned = np.flatnonzero(np.sign(values) != np.sign(values[0]))
        if turned.size:
            said.append(_("Heads ablated until the favoured answer changes: {turned}.", turned=turned[0]))
    else:
        said = [
            _(
                "After {half} of {heads} heads, the cosine to the original is {like:.2f}; after {steps}, {last:.2f}.",
                half=half,
                heads=len(case.places),
                like=values[half],
                steps=steps,
                last=values[-1],
            )
        ]
    if random.size:
        low, high = (typeset_number(f"{end:.2f}") for end in (random[:, half].min(), random[:, half].max()))
        said.append(
            _(
                "Random orders, after {half} heads: {metric} {low} to {high}.",
                half=half,
                metric=case.watch.unit,
                low=low,
                high=high,
            )
        )
    return join_sentences(*said)
