"""What is known of a change, in sentences."""

from __future__ import annotations

import numpy as np

from probing.across import Mean
from training.jobs.job import Look
from ui.input.head_picking import head_name, many_do
from ui.pages.teach.changed_measured import Measured
from ui.show.numbers import small

MOST_NAMED = 6  # heads


def waiting(look: Look) -> str:
    """Why nothing is known yet, and when it will be."""
    if look.state in ("stopped", "failed"):
        return (
            "What changed is measured when the training has come to its end, on which its twin is trained: the same"
            " training on shuffled labels. Let it go on to see it."
        )
    if look.phase == "twin":
        planned, done = look.lines("plan"), look.lines("step")
        step = f", step {done[-1]['step']} of {planned[0]['last']}" if planned and done else ""
        return (
            f"The twin is being trained{step}: the same training on shuffled labels, which tells what training does to"
            " the maps when there is nothing to learn."
        )
    if look.phase == "changes":
        return "The maps are being compared. This takes less than a minute."
    return "What changed is measured when the model is taught; then its twin is trained to compare it with."


def truth(found: Measured, base: int) -> list[str]:
    """How far the maps have come, how far they come anyway, and how many heads go beyond that."""
    if found.facts.step == 0:
        return [
            "The weights that were kept are those before the first step, so nothing has changed: all numbers are 0."
        ]
    if found.still:
        return ["No head's map has moved by more than rounding."]
    told = found.across
    task, twin = found.whole
    more, less = told.those(more=True), told.those(more=False)
    where = "" if found.rows == "all" else f" {where_read(found)}"
    anyway = (
        f"{bits(twin.mean[0])} would also have moved with nothing to learn"
        if twin.mean[0] < task.mean[0]
        else f"with nothing to learn they move no less: {bits(twin.mean[0])}"
    )
    does = many_do(len(more), told.p_more.size, "goes", "go", "beyond the twin")
    behind = f", {len(less)} stay{'s' if len(less) == 1 else ''} behind it" if len(less) else ""
    return [
        f"Of the {bits(task.mean[0])} bits that the maps moved{where} on the mean{interval(task, 0)}, {anyway}"
        f"{interval(twin, 0)}; {told.change.n} sentences that it was not taught on.",
        f"{does}{_names(found, base)}{behind}: were there no difference, even one such head would be luck in at most 5"
        " of 100 comparisons.",
    ]


def where_read(found: Measured) -> str:
    """The rows that the label is read from, in words."""
    return f"in the row of {found.facts.telling}" if found.facts.telling else "in the rows of tagged words"


def of_head(found: Measured, head: tuple[int, int], base: int) -> str:
    """One head's numbers with their intervals, and what the test says."""
    told, at = found.across, head[0] * found.shape[1] + head[1]
    change, control = (f"{bits(mean.mean[at])} bits{interval(mean, at)}" for mean in (told.change, told.control))
    name = head_name(*head, base)
    return f"{name[0].upper()}{name[1:]}: {change} in the task, {control} in the twin. Test: {told.verdict(at)}."


def interval(mean: Mean, at: int) -> str:
    """The interval of one of several means, in brackets; nothing where too few sentences tell one."""
    low, high = float(mean.low[at]), float(mean.high[at])
    return "" if np.isnan(low) else f" (95 % interval {bits(low)} to {bits(high)})"


def bits(number: float) -> str:
    """A divergence on screen.

    >>> bits(0.0921), bits(0.00042)
    ('0.092', '0.00042')
    """
    return f"{number:.3f}" if abs(number) >= 0.001 else small(float(number))


def _names(found: Measured, base: int) -> str:
    """A few of the heads that go beyond, the furthest first."""
    told = found.across
    order = sorted((int(at) for at in told.those(more=True)), key=lambda at: -told.more.mean[at])
    places = [found.place(at) for at in order[:MOST_NAMED]]
    rest = f" and {len(order) - MOST_NAMED} others" if len(order) > MOST_NAMED else ""
    return f" ({', '.join(f'{layer + base}-{head + base}' for layer, head in places)}{rest})" if order else ""
