"""What is known of a change, in sentences."""

from __future__ import annotations

import numpy as np

from probing.across import Mean
from probing.changed import TWINS
from training.jobs.job import Look
from ui.input.head_picking import head_name, many_do
from ui.pages.teach.changed_measured import Measured
from ui.pages.teach.progress import doing
from ui.show.numbers import small

MOST_NAMED = 6  # heads


def waiting(look: Look) -> str:
    """Why nothing is known yet, and when it will be."""
    if look.state == "failed":
        return f"What changed is not known. {look.said}"
    if look.state == "stopped":
        return (
            "What changed is measured when the training has come to its end, on which two twins are trained: the"
            " same training on shuffled labels. Let it go on to see it."
        )
    if look.phase == "twin":
        return (
            f"{doing(look)}. Twins have the same training on shuffled labels, which tells what training does to the"
            " maps when there is nothing to learn."
        )
    if look.phase == "changes":
        return "The maps are being compared. This takes less than a minute."
    return "What changed is measured when the model is taught; then two twins are trained to compare it with."


def truth(found: Measured, base: int) -> list[str]:
    """How far the maps have come, how far they come anyway, and how many heads differ from the twin's."""
    if found.facts.step == 0:
        return [
            "The weights that were kept are those before the first step, so nothing has changed: all numbers are 0."
        ]
    if found.still:
        return ["No head's map has moved by more than rounding."]
    task = found.whole["task"]
    twins = [float(found.whole[who].mean[0]) for who in TWINS]
    where = "" if found.rows == "all" else f" in {found.facts.telling}"
    both = f"{bits(min(twins))} and {bits(max(twins))} in two shuffles"
    anyway = (
        f"{bits(sum(twins) / 2)} would also have moved with nothing to learn ({both})"
        if max(twins) < task.mean[0]
        else f"as many may move with nothing to learn: {both}"
    )
    return [
        f"Of the {bits(task.mean[0])} bits that the maps moved{where} on the mean{interval(task, 0)}, {anyway};"
        f" {found.across.change.n} sentences that it was not taught on.",
        f"{many_do(len(found.beyond), found.ahead.size, 'goes', 'go', 'beyond chance')}{_names(found, base)};"
        f" luck gives {found.by_luck:.1f} on the average.",
    ]


def of_head(found: Measured, head: tuple[int, int], base: int) -> str:
    """One head's numbers with their intervals, and whether it goes beyond chance."""
    told, at = found.across, head[0] * found.shape[1] + head[1]
    change, control = (f"{bits(mean.mean[at])} bits{interval(mean, at)}" for mean in (told.change, told.control))
    name = head_name(*head, base)
    if head in found.beyond:
        said = "It goes beyond chance."
    elif told.verdict(at) == "more":
        said = "It goes further on these sentences, but by no more than one shuffle beyond another."
    else:
        said = "It does not go beyond chance."
    return f"{name[0].upper()}{name[1:]}: {change} in the task, {control} with nothing to learn. {said}"


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
    """A few of the heads that go beyond chance, the furthest first."""
    named = [f"{layer + base}-{head + base}" for layer, head in found.beyond[:MOST_NAMED]]
    rest = len(found.beyond) - len(named)
    return f" ({', '.join(named)}{f' and {rest} more' if rest else ''})" if named else ""
