"""A control with shuffled labels, and the heads that fine-tuning changed beyond it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from attention.mask import FloatArray
from i18n import gettext_lazy
from inference.building import silence_transformers
from inference.errors import UserError
from inference.settings import Settings as Machine
from probing import fine_tuning_changes
from probing.fine_tuning_changes import SIDES, WHO, ChangeFacts, ComparedSentence
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText
from training import curves, loop, schedule
from training.export import SCORES
from training.finetune import snapshots
from training.finetune.command import RUN
from training.finetune.data import LabeledTask
from training.finetune.export import save
from training.finetune.model_setup import reopen_model
from training.finetune.settings import FinetuneSettings
from training.finetune.snapshots import Drift, SnapshotRecorder, names, sample_unseen
from training.finetune.trainer import FinetuneRun, open_start, prepare_run
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
    if not curves.lines(run.metrics.file, "plan"):
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


def compare(  # noqa: PLR0913  # what the task was taught with, where both lie, and where it is written
    task: LabeledTask, model: str, settings: FinetuneSettings, taught: Path, twins: Path, into: Path, machine: Machine
) -> None:
    """Compares the maps of the model in ``taught``, and of its twins inside ``twins``, with what they were before.

    Written is what ``probing.fine_tuning_changes`` reads; the film of the task's run is kept there too. Where there
    is nothing to compare, that is written: the model is as well taught. Raises Refusal where the start is gone.
    """
    silence_transformers()
    start = open_start(task.labels, model, settings, machine)
    torch.set_num_threads(settings.threads)  # opening a model sets the app's own number
    seen = sample_unseen(task.labels, start, settings)
    if seen is None:
        fine_tuning_changes.refuse(
            into,
            gettext_lazy("All test texts are among the train texts too, so there is nothing to compare the maps on."),
        )
        return
    try:
        drift = Drift(SnapshotRecorder(start, seen), len(seen))
    except UserError as refusal:
        fine_tuning_changes.refuse(into, refusal.message)
        return
    bits: dict[tuple[str, str], FloatArray] = {}
    maps = {("before", at): drift.before[at] for at in range(seen.shown)}
    for who, folder in zip(WHO, (taught, *places(twins)), strict=True):
        found, shown = drift.measure(reopen_model(folder, task.labels.kind))
        bits |= {(who, rows): array for rows, array in found.items()}
        if who in SIDES:
            maps |= {(who, at): array for at, array in enumerate(shown)}
    fine_tuning_changes.write(
        into, _facts(drift.camera, taught), bits, maps, snapshots.load_snapshots(taught / RUN / snapshots.FOLDER)
    )


def _facts(camera: SnapshotRecorder, taught: Path) -> ChangeFacts:
    seen, start = camera.seen, camera.start
    said = json.loads((taught / SCORES).read_text(encoding="utf-8"))
    sentences = []
    for at, row in enumerate(seen.rows):
        label = row.label if isinstance(row, LabeledText) else " ".join(row.tags)
        sentences.append(ComparedSentence(row.text, label, names(seen, at, start) if at < seen.shown else None))
    telling = camera.row_label(names(seen, 0, start)[0])
    return ChangeFacts(start.name, said["task"], said["dev"]["step"], telling, tuple(sentences))
