"""The same training with nothing to learn: what the maps do anyway when a model is trained.

A twin reads the same texts in the same order, from the same weights, at the same rates and with the same dropout; only
what it is told about them is shuffled. It stops at the step whose weights the task kept, so that both were trained for
as long: chosen by a score of its own it would be the start, since nothing it learns helps. How far its maps have come
from the start is what comes of being trained; what the task's did beyond that is the task's.

Which way a training with nothing to learn goes is luck: one shuffle may move a layer's maps five times as far as
another. So there are two twins, and how far one goes beyond the other says how far luck goes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from inference.settings import Settings as Machine
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText
from training import loop, metrics, schedule
from training.finetune.export import save
from training.finetune.fine_tune import RUN
from training.finetune.labeled_task import LabeledTask
from training.finetune.run import FinetuneRun
from training.finetune.run_setup import prepare_run
from training.finetune.settings import FinetuneSettings
from training.folder import SCORES
from training.loop import RunBudget

TWINS = 2
SHUFFLE = 1  # beside the run's seed: of which labels which texts get


@dataclass(kw_only=True)
class ShuffledLabelRun(FinetuneRun):
    """A run whose labels say nothing, so that there is nothing to assess it by."""

    def assess(self) -> None:
        """Nothing is told, and no weights are kept for it: which ones count is set beforehand."""


def teach_twins(  # noqa: PLR0913  # what the task was taught with, and where that lies
    task: LabeledTask, model: str, settings: FinetuneSettings, folder: Path, machine: Machine, taught: Path
) -> bool:
    """Trains the twins of the model in the folder ``taught``, one after the other; raises Refusal.

    Each is saved in a folder of its own inside ``folder``; the rest is what the task was taught with. Whether all are
    there: when one was stopped (Ctrl-C, SIGTERM), the same call goes on with it.
    """
    asked = (task, model, settings, folder, machine, taught)
    return all(place.exists() or _teach(*asked, number) for number, place in enumerate(places(folder)))


def places(folder: Path) -> tuple[Path, ...]:
    """Where the twins are saved."""
    return tuple(folder / str(number) for number in range(TWINS))


def _teach(  # noqa: PLR0913  # the same, and which of the twins
    task: LabeledTask, model: str, settings: FinetuneSettings, folder: Path, machine: Machine, taught: Path, number: int
) -> bool:
    """Trains one of them, in the folder's run, or goes on there; whether it came to its end."""
    said = json.loads((taught / SCORES).read_text(encoding="utf-8"))
    last, rates = said["dev"]["step"], schedule.read(said["rates"])
    how = replace(settings, minutes=None, steps=rates.last, filmed=False)
    run = prepare_run(
        shuffle_labels(task.labels, settings.seed, number), model, how, folder / RUN, machine, ShuffledLabelRun
    )
    run.progress.schedule = rates
    if not metrics.lines(run.metrics.file, "plan"):
        run.metrics.write("plan", step=0, last=last, twin=number)
    if run.progress.step < last:
        loop.train(run, RunBudget(stop_at=last))
    if run.progress.step < last:
        return False
    partial = folder / f"{number}.partial"
    save(run.model, run.tokenizer, partial)
    (run.folder / "checkpoint.pt").unlink(missing_ok=True)  # the next one begins anew
    partial.replace(folder / str(number))
    return True


def shuffle_labels(labels: LabeledDataset, seed: int, number: int = 0) -> LabeledDataset:
    """The same texts with each other's labels, in the train rows and in the dev rows; the test rows stay.

    Classes change places among texts, so that each is as frequent as before and no text tells anything about its own.
    Tags change places among all words, whatever text they are of: inside a text they would still tell how many names
    it has, and whole texts' tags would still tell that a name is seldom at the end and that "I-PER" follows "B-PER".
    All that is left to learn is how frequent each label is.

    >>> rows = [LabeledText(text, text.upper()) for text in "abcd"]
    >>> mixed = shuffle_labels(LabeledDataset("classify", ("A", "B", "C", "D"), rows, rows[:1], rows), seed=0)
    >>> [row.text for row in mixed.train], sorted(row.label for row in mixed.train), mixed.test == rows
    (['a', 'b', 'c', 'd'], ['A', 'B', 'C', 'D'], True)
    """
    random = np.random.default_rng([seed, SHUFFLE, number])
    return replace(labels, train=_shuffle_rows(labels.train, random), dev=_shuffle_rows(labels.dev, random))


def _shuffle_rows(
    rows: Sequence[LabeledText] | Sequence[TaggedText], random: np.random.Generator
) -> list[LabeledText] | list[TaggedText]:
    texts = [row for row in rows if isinstance(row, LabeledText)]
    if texts:
        order = random.permutation(len(texts))
        return [replace(row, label=texts[at].label) for row, at in zip(texts, order, strict=True)]
    tagged = [row for row in rows if isinstance(row, TaggedText)]
    tags = [tag for row in tagged for tag in row.tags]
    dealt = iter([tags[at] for at in random.permutation(len(tags))])
    return [replace(row, tags=tuple(next(dealt) for _ in row.tags)) for row in tagged]
