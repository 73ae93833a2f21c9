"""Heads removed one after the other: the one that matters least, or most, at every step; random orders beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from attention.cause import Set
from attention.edits import Ablate
from attention.mask import Array
from ui.input.picking import control
from ui.pages.cause.case import Case
from ui.pages.cause.options import Cause
from ui.removing.chance import SEED
from ui.removing.edits import Head
from ui.run.refusals import say
from ui.run.stoppable import stoppable
from ui.show.chart import draw_chart, theme
from ui.show.csv_table import csv_table
from ui.show.numbers import times
from ui.show.saving import save
from ui.state.options import choose_own
from viz.figures.removal_curve import removal_curve

ORDERS = 5
MOST_STEPS = 72
NAMES = {"least": "the least", "most": "the most"}


def curve(case: Case) -> None:
    """The controls, and the curve once it is asked for."""
    st.subheader("And when more and more heads go?")
    many = len(case.places)
    steps = min(many, case.options.steps or min(many, MOST_STEPS))
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="bottom")
    control(
        Cause,
        "greedy",
        left.segmented_control,
        "At each step remove the head that changes the answer",
        list(NAMES),
        format_func=NAMES.get,
        required=True,
        help="At every step each head that is left is tried; the answer is compared with that of the whole model.",
    )
    control(
        Cause, "steps", middle.number_input, "Heads to remove", min_value=1, max_value=many, shown=steps,
        help="Each step asks about all heads that are left, so many steps take a while.",
    )  # fmt: skip
    if not case.options.curve:
        right.button(
            "Draw the curve",
            on_click=lambda: choose_own(Cause, curve=True),
            help="Begin; it can be stopped, and goes on where it was",
        )
        return
    order, numbers = _greedy(case, steps)
    random = _random(case, steps)
    _draw(case, order, numbers, random)


def _greedy(case: Case, steps: int) -> tuple[list[Head], list[float]]:
    """The heads in the order they went, and the watched number after each, that of the whole model first."""
    gone: list[Head] = []
    numbers: list[float] = []
    mark = f"greedy:{case.options.greedy}:{steps}:{case.watch.question.key}"
    for _ in stoppable(mark, steps, "Removing heads one after the other"):
        left = [place for place in case.places if place not in gone]
        sets: list[Set] = [(), *(_set([*gone, place]) for place in left)]
        found = case.watch.numbers(case.watch.ask(sets))
        changes = np.abs(found[1:] - found[0])
        at = int(changes.argmin() if case.options.greedy == "least" else changes.argmax())
        numbers = numbers or [float(found[0])]
        numbers.append(float(found[1 + at]))
        gone.append(left[at])
    return gone, numbers


def _set(places: Sequence[Head]) -> Set:
    return tuple(Ablate(*place) for place in sorted(places))


def _random(case: Case, steps: int) -> Array:
    """The watched number while heads go in random orders, (order, step); empty where the reader has stopped."""
    generator = np.random.default_rng(SEED)
    orders = [[case.places[at] for at in generator.permutation(len(case.places))] for _ in range(ORDERS)]
    sets = [_set(order[: step + 1]) for order in orders for step in range(steps)]
    found = case.watch.changes(sets, case.tokens, "Removing heads in random orders")
    if len(found) < len(sets):
        return np.zeros((0, steps + 1), np.float32)
    whole = float(case.watch.numbers(case.watch.ask([()]))[0])
    after = whole + found.reshape(ORDERS, steps)
    return np.concatenate([np.full((ORDERS, 1), whole, np.float32), after], axis=1)


def _draw(case: Case, order: Sequence[Head], numbers: Sequence[float], random: Array) -> None:
    if not order:
        return
    values, names = np.array(numbers), [case.name(place) for place in order]
    say(_verdict(case, values, random), role="status")
    figure = removal_curve(values, names, random, theme(), "The answer while heads are removed", case.watch.unit)
    draw_chart(figure, "cause_curve")
    st.caption(
        f"Line with dots: at each step the head whose removal changes the answer {NAMES[case.options.greedy]}. Dashed:"
        f" the mean of {len(random)} random orders (seed {SEED}), with their span. Hover names the head."
    )
    rows = [(step, name, float(value)) for step, (name, value) in enumerate(zip(["", *names], values, strict=True))]
    columns = [f"random order {at + 1}" for at in range(len(random))]
    table = [(*row, *(float(one[row[0]]) for one in random)) for row in rows]
    save(
        "Save the table",
        csv_table(["heads removed", "last removed", case.watch.unit, *columns], table),
        "headlight-removal-curve.csv",
        "Both curves as CSV, all digits",
        key="cause_save_curve",
        told=True,
    )


def _verdict(case: Case, values: Array, random: Array) -> str:
    """How far the answer gets, and how far it gets at random."""
    steps = len(values) - 1
    half = steps // 2
    if case.watch.names:
        turned = np.flatnonzero(np.sign(values) != np.sign(values[0]))
        when = (
            f"after {turned[0]} heads the other answer is favoured"
            if turned.size
            else f"the same answer is favoured after all {steps}"
        )
        average = float(random[:, half].mean()) if random.size else 0.0
        beside = f" In random orders, on average, {times(average, *case.watch.names)} by then." if random.size else ""
        return (
            f"At first {times(float(values[0]), *case.watch.names)}, after {half} heads"
            f" {times(float(values[half]), *case.watch.names)}; {when}.{beside}"
        )
    beside = f" (at random {random[:, half].mean():.2f} on average)" if random.size else ""
    return (
        f"After {half} of {len(case.places)} heads the sentence vector is still {values[half]:.2f} like the whole"
        f" model's{beside}, after {steps} heads {values[-1]:.2f}: 1 is the same, 0 nothing in common."
    )
