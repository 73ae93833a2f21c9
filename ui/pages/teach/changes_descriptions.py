"""Sentences about the change of the attention heads by fine-tuning."""

from __future__ import annotations

import numpy as np

from attention.head_names import head_label
from i18n import _, translate
from probing.fine_tuning_changes import TWINS
from probing.text_pairs import Mean
from training.jobs.job import JobStatus
from ui.input.controls import head_name
from ui.pages.teach.changes_results import HeadChanges
from ui.pages.teach.progress import describe_job
from ui.show.text import format_comma_list, format_small, join_sentences

MOST_NAMED = 6  # The sentence lists at most so many heads.


def describe_wait(look: JobStatus) -> str:
    """Return a sentence on the state of the comparison before its results exist."""
    if look.state == "failed":
        return _("The comparison failed. {why}", why=translate(look.said))
    if look.state == "stopped":
        return _("The comparison starts when the training is finished. Press “Go on”.")
    if look.phase == "twin":
        return _(
            "{doing}. The controls are trained on shuffled labels.",
            doing=describe_job(look),
        )
    if look.phase == "changes":
        return _("Comparing the maps, less than a minute.")
    return _("The comparison starts after the training, with two shuffled-label controls.")


def describe_changes(found: HeadChanges) -> list[str]:
    """Return sentences on the mean change of the task and controls, and on the heads that differ.

    The list has a single sentence if the saved weights are the initial weights, or if every change is below
    rounding.
    """
    if found.facts.step == 0:
        return [_("The best step is 0, so nothing has changed.")]
    if found.is_unchanged:
        return [_("No map has changed beyond rounding.")]
    task = found.whole["task"]
    twins = [float(found.whole[who].mean[0]) for who in TWINS]
    where = "" if found.rows == "all" else _(" in {rows}", rows=translate(found.facts.telling))
    return [
        _(
            "The maps{where} changed by {bits} bits on average{interval}; in the controls, which learned shuffled"
            " labels, by {less} and {more} ({n} held-out sentences).",
            bits=bits(task.mean[0]),
            where=where,
            interval=interval(task, 0),
            less=bits(min(twins)),
            more=bits(max(twins)),
            n=found.across.change.n,
        ),
        join_sentences(_describe_beyond(found), _describe_further(found)),
    ]


def _describe_beyond(found: HeadChanges) -> str:
    """Return a sentence on how many heads moved beyond chance, with the names of a few."""
    return _(
        "{many} of {all} heads exceed chance{names}, which any head does in at most 5 of 100 trainings by luck.",
        many=len(found.heads_beyond),
        all=found.ahead.size,
        names=_names(found),
    )


def _describe_further(found: HeadChanges) -> str:
    """Return a sentence on how many heads moved further than the controls on these sentences.

    Another shuffle of the labels may do the same, so the sentence claims less than "beyond chance".
    """
    return _(
        "Heads that changed more than in the controls on these sentences: {many}; two controls are few.",
        many=found.heads_further,
    )


def describe_head(found: HeadChanges, head: tuple[int, int]) -> str:
    """Return a sentence on a single head: its change, the change in the controls, and the verdict."""
    across, at = found.across, head[0] * found.shape[1] + head[1]
    change, control = (
        _("{bits} bits{interval}", bits=bits(mean.mean[at]), interval=interval(mean, at))
        for mean in (across.change, across.control)
    )
    name = head_name(*head)
    if head in found.heads_beyond:
        said = _("It exceeds chance.")
    elif across.verdict(at) == "more":
        said = _("It changed more than in the controls, but another shuffle may do so too.")
    else:
        said = _("It does not exceed chance.")
    return _(
        "{head}: {change} by the task, {control} in the controls. {said}",
        head=name[0].upper() + name[1:],
        change=change,
        control=control,
        said=said,
    )


def interval(mean: Mean, at: int) -> str:
    """Return the 95 % interval at index ``at`` in brackets; "" if too few sentences were measured."""
    low, high = float(mean.low[at]), float(mean.high[at])
    return "" if np.isnan(low) else _(" (95 % interval {low} to {high})", low=bits(low), high=bits(high))


def bits(number: float) -> str:
    """Format a divergence in bits for display.

    >>> bits(0.0921), bits(0.00042)
    ('0.092', '0.00042')
    """
    return f"{number:.3f}" if abs(number) >= 0.001 else format_small(float(number))


def _names(found: HeadChanges) -> str:
    """Return up to MOST_NAMED heads that moved beyond chance, in brackets; "" if there are none.

    The head with the largest lead comes first.
    """
    named = [head_label(layer, head) for layer, head in found.heads_beyond[:MOST_NAMED]]
    rest = len(found.heads_beyond) - len(named)
    if not named:
        return ""
    heads = format_comma_list(named)
    return _(" ({heads} and {rest} more)", heads=heads, rest=rest) if rest else _(" ({heads})", heads=heads)
