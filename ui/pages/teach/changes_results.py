"""The change of each head by fine-tuning, next to that of models trained on shuffled labels.

The result is described in sentences, and can be saved as a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attention.head_names import head_label
from attention.mask import FloatArray
from i18n import _, translate
from inference.byte_cache import ByteLru
from probing import fine_tuning_changes
from probing.fine_tuning_changes import AHEAD, TWINS, ChangeFacts
from probing.statistics import LEVEL
from probing.text_pairs import ControlledChange, Mean, Numbers, mean_of
from training.jobs.job import JobStatus
from ui.input.controls import head_name
from ui.pages.teach.options import ROWS
from ui.pages.teach.training_progress import describe_job
from ui.show.tables import csv_table
from ui.show.text import TOO_FEW, format_comma_list, format_small, join_sentences

KEPT = 2**24  # The capacity of the cache in bytes.
ROUNDING = 1e-4  # In bits. Saving the weights in half precision can cause smaller changes.
MOST_NAMED = 6  # The sentence lists at most so many heads.
HEADS = {  # the columns of the saved table, with their definitions
    "map rows": "the rows of each map that are compared",
    "layer": "from 0",
    "head": "from 0",
    "task (bits)": "change of the fine-tuned model: divergence of its maps from the initial maps, mean over sentences",
    "task, low": "of the 95% bootstrap interval over sentences, empty for few sentences; likewise below",
    "task, high": "",
    "controls (bits)": "change of the shuffled-label controls, mean of both",
    "controls, low": "",
    "controls, high": "",
    "task − controls (bits)": "their difference",
    "difference, low": "",
    "difference, high": "",
    "verdict": "more: the difference is positive and significant at the level 0.05",
    "p, Holm-corrected": "of a two-sided permutation test of task and controls within sentences, for all heads",
    "lead (distance)": "task minus mean of the controls in Jensen–Shannon distance, the square root of the divergence",
    "needed lead (distance)": f"{AHEAD:.1f} times the largest difference of the controls in any head",
    "beyond chance": "the verdict is more, and the lead exceeds the needed lead",
}


@dataclass(frozen=True, eq=False)
class HeadChanges:
    """The change of every head's attention maps by fine-tuning: statistics over sentences.

    ``rows`` selects the rows of a map that are compared: all, or only those from which the label is read. ``across``
    compares the model with the controls, which were trained on shuffled labels.
    """

    folder: Path
    facts: ChangeFacts
    rows: str
    shape: tuple[int, int]  # (layers, heads)
    across: ControlledChange  # Heads are numbered layer by layer; the control is the mean of both.
    ahead: FloatArray  # The lead of each head over the controls, shape (layer, head), in Jensen–Shannon distance.
    luck: float  # The lead that a head needs, corrected for all heads, in the same unit.
    layers: Mapping[str, Mean]  # By model (the task and each control): the mean over each layer's heads.
    whole: Mapping[str, Mean]  # By model: the mean over all heads.

    @property
    def is_unchanged(self) -> bool:
        """Return whether the mean change of every head is below ROUNDING."""
        return bool(self.across.change.mean.max() < ROUNDING)

    @property
    def heads_beyond(self) -> list[tuple[int, int]]:
        """Return the (layer, head) of the heads that changed beyond chance, the largest lead over the controls first.

        Such a head changed significantly more than in the controls on these sentences, and its lead exceeds ``luck``.
        """
        found = [self.place(int(at)) for at in self.across.more_heads]
        return sorted((at for at in found if self.ahead[at] > self.luck), key=lambda at: -float(self.ahead[at]))

    @property
    def heads_further(self) -> int:
        """Return the number of heads that changed significantly more than in the controls on these sentences."""
        return len(self.across.more_heads)

    @property
    def can_be_significant(self) -> bool:
        """Return whether there are enough sentences for the test to find any head."""
        return self.across.least_p <= LEVEL

    def as_map(self, values: Numbers) -> FloatArray:
        """Return ``values``, a number for each head, in the shape (layer, head)."""
        found: FloatArray = np.asarray(values, np.float32).reshape(self.shape)
        return found

    def place(self, head: int) -> tuple[int, int]:
        """Return the layer and head index of the head with the number ``head``."""
        return head // self.shape[1], head % self.shape[1]


def load_changes(folder: Path, rows: str) -> HeadChanges | None:
    """Return the stored comparison, from a cache; None if no sentence has rows of the kind ``rows``."""
    made = (folder / fine_tuning_changes.FACTS).stat().st_mtime_ns
    found = _change_cache().get_or_make((folder, made, rows), lambda: _compute_changes(folder, rows), lambda _: 200_000)
    return found if found.across.change.n else None


@cache
def _change_cache() -> ByteLru[HeadChanges]:
    return ByteLru(KEPT)


def _compute_changes(folder: Path, rows: str) -> HeadChanges:
    each = fine_tuning_changes.load_by_model(folder, rows)
    task, twins = each["task"], [each[who] for who in TWINS]
    heads = [fine_tuning_changes.mean(twin, axis=0) for twin in twins]
    layers, width = task.shape[1:]
    return HeadChanges(
        folder,
        fine_tuning_changes.facts(folder),
        rows,
        (layers, width),
        fine_tuning_changes.compare_drift(task, np.mean(twins, axis=0)),
        fine_tuning_changes.mean_lead(fine_tuning_changes.mean(task, axis=0), heads),
        fine_tuning_changes.lead_threshold(heads),
        {who: _mean(bits.mean(axis=2)) for who, bits in each.items()},
        {who: _mean(bits.mean(axis=(1, 2))[:, None]) for who, bits in each.items()},
    )


def _mean(values: FloatArray) -> Mean:
    return mean_of(values.astype(np.float64))


def describe_wait(look: JobStatus) -> str:
    """Return a sentence on the state of the comparison while it has no results."""
    if look.state == "failed":
        return _("The comparison failed. {why}", why=translate(look.said))
    if look.state == "stopped":
        return _("The comparison follows the training. Press “Go on”.")
    if look.phase in ("twin", "changes"):
        return describe_job(look)
    return _("The comparison follows, with two shuffled-label controls.")


def describe_changes(found: HeadChanges) -> list[str]:
    """Return sentences on the mean change in the model and in the controls, and on the heads that differ.

    If nothing changed (or less than rounding errors), the list has a single sentence. With too few sentences for the
    test, it counts no heads, because none can differ significantly.
    """
    if found.facts.step == 0 or found.is_unchanged:
        return [_("No map changed beyond rounding.")]
    task = found.whole["task"]
    twins = [float(found.whole[who].mean[0]) for who in TWINS]
    where = "" if found.rows == "all" else _(" in {rows}", rows=translate(found.facts.telling))
    mean = _(
        "The maps{where} changed by {bits} bits on average{interval}; with shuffled labels by "
        "{less} and {more} ({n} held-out sentences).",
        bits=bits(task.mean[0]),
        where=where,
        interval=interval(task, 0),
        less=bits(min(twins)),
        more=bits(max(twins)),
        n=found.across.change.n,
    )
    if not found.can_be_significant:
        return [join_sentences(mean, translate(TOO_FEW))]
    return [mean, join_sentences(_describe_beyond(found), _describe_further(found))]


def _describe_beyond(found: HeadChanges) -> str:
    """Return a sentence on how many heads moved beyond chance, with the names of a few."""
    return _(
        "{many} of {all} heads exceed chance{names}; by chance, any head would in at most 5 of 100 trainings.",
        many=len(found.heads_beyond),
        all=found.ahead.size,
        names=_names(found),
    )


def _describe_further(found: HeadChanges) -> str:
    """Return a sentence on how many heads moved further than the controls on these sentences.

    Another shuffle of the labels may do the same, so the sentence claims less than "beyond chance".
    """
    return _(
        "Heads that changed significantly more than in the controls: {many}. With two controls, this is uncertain.",
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
    if not found.can_be_significant:
        said = translate(TOO_FEW)
    elif head in found.heads_beyond:
        said = _("It exceeds chance.")
    elif across.verdict(at) == "more":
        said = _("It changed more than in the controls; another shuffle may do so too.")
    else:
        said = _("It does not exceed chance.")
    return _(
        "{head} changed by {change}; in the controls by {control}. {said}",
        head=name[0].upper() + name[1:],
        change=change,
        control=control,
        said=said,
    )


def interval(mean: Mean, at: int) -> str:
    """Return the 95 % interval at index ``at`` in brackets; "" if too few sentences were measured."""
    low, high = float(mean.low[at]), float(mean.high[at])
    return "" if np.isnan(low) else _(" (95% interval {low} to {high})", low=bits(low), high=bits(high))


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
    return _(" ({heads})", heads=format_comma_list([*named, "…"] if rest else named))


def heads_csv(found: HeadChanges) -> str:
    """Return a CSV with a line for each kind of rows and each head; undefined numbers are empty cells."""
    lines: list[list[object]] = []
    for rows in ROWS:
        of_rows = load_changes(found.folder, rows)
        if of_rows is not None:
            lines += _lines(of_rows)
    return csv_table(list(HEADS), lines)


def change_provenance(look: JobStatus, found: HeadChanges) -> dict[str, Any]:
    """Return the provenance of numbers on changes: the training, its settings, the sentences and the measure."""
    facts = found.facts
    return {
        "model": look.job.name,
        "data": f"{found.across.change.n} held-out sentences of {look.job.data_title}",
        "training": look.job.title,
        "before": facts.start,
        "task": facts.kind,
        "seed": look.job.settings.seed,
        "step": facts.step,
        "sentences": found.across.change.n,
        "map_rows": _describe_rows(found),
        "measure": "Jensen–Shannon divergence of a head's maps before and after fine-tuning, mean over rows",
        "controls": f"{len(TWINS)} trainings on shuffled labels, {facts.step} steps each",
    }


def heads_provenance(look: JobStatus, found: HeadChanges) -> dict[str, Any]:
    """Return the provenance of the table of all heads, which has both kinds of rows, with its columns' definitions."""
    each = [one for rows in ROWS if (one := load_changes(found.folder, rows)) is not None]
    columns = {name: about for name, about in HEADS.items() if about}
    return {
        **change_provenance(look, found),
        "sentences": {_describe_rows(one): one.across.change.n for one in each},
        "map_rows": [_describe_rows(one) for one in each],
        "columns": columns,
    }


def _describe_rows(found: HeadChanges) -> str:
    """Return the rows of the maps that are compared, in the page's words."""
    return "all tokens" if found.rows == "all" else f"label positions, {found.facts.telling}"


def _lines(found: HeadChanges) -> list[list[object]]:
    told = found.across
    means = (told.change, told.control, told.more)
    return [
        [
            _describe_rows(found),
            *found.place(at),
            *(_none_if_nan(one[at]) for mean in means for one in (mean.mean, mean.low, mean.high)),
            told.verdict(at),
            _none_if_nan(told.p[at]),
            float(found.ahead.flat[at]),
            found.luck,
            found.place(at) in found.heads_beyond,
        ]
        for at in range(len(told.p))
    ]


def _none_if_nan(value: float) -> float | None:
    number = float(value)
    return None if number != number else number
