"""The shuffled-label control of a fine-tuning: a model trained in the same way on shuffled labels.

If fine-tuning changes a head more than the control does, the head has learned something from the labels.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from attention.mask import FloatArray
from i18n import gettext_lazy
from inference.errors import UserError
from inference.loaded_model import silence_transformers
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
SHUFFLE = 1  # added to the run's seed for the shuffling


@dataclass(kw_only=True)
class ShuffledLabelRun(FinetuneRun):
    """A fine-tuning run on shuffled labels, which is never evaluated."""

    def assess(self) -> None:
        """Do nothing: a control saves the weights of its last step, so no checkpoint is chosen by a score."""


def teach_twins(  # noqa: PLR0913  # the arguments of the fine-tuning, and the folder of its result
    task: LabeledTask, model: str, settings: FinetuneSettings, folder: Path, machine: Machine, taught: Path
) -> bool:
    """Train the controls of a fine-tuned model on shuffled labels; return False after an interruption.

    ``taught`` is the folder of the fine-tuned model. ``task``, ``model``, ``settings`` and ``machine`` are the values
    with which it was trained. Each control trains as many steps as that model's best checkpoint, and is saved in a
    subfolder of ``folder``. After Ctrl-C or SIGTERM, a second call resumes the unfinished control.
    """
    asked = (task, model, settings, folder, machine, taught)
    return all(place.exists() or _teach(*asked, number) for number, place in enumerate(places(folder)))


def places(folder: Path) -> tuple[Path, ...]:
    """Return the paths of the subfolders of ``folder`` for the shuffled-label controls."""
    return tuple(folder / str(number) for number in range(TWINS))


def _teach(  # noqa: PLR0913  # the same arguments, and the number of the control
    task: LabeledTask, model: str, settings: FinetuneSettings, folder: Path, machine: Machine, taught: Path, number: int
) -> bool:
    """Start or resume the training of a control; return False if it was stopped.

    It trains for as many steps as the fine-tuned model's best checkpoint, with the same schedule.
    """
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
    (run.folder / "checkpoint.pt").unlink(missing_ok=True)  # the next control starts from scratch
    partial.replace(folder / str(number))
    return True


def shuffle_labels(labels: LabeledDataset, seed: int, number: int = 0) -> LabeledDataset:
    """Return the data set with shuffled labels in the train and dev rows; test rows are unchanged.

    ``number`` selects a different shuffling for each control. Text classes are permuted among texts, so a text carries
    no information about its class. Word tags are permuted among all words of all texts, so only the tag frequencies can
    be learned. Permuting within a text would preserve its number of names. Permuting whole tag sequences would preserve
    positions and transitions ("I-PER" after "B-PER").

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


def compare(  # noqa: PLR0913  # the arguments of the fine-tuning, both results, and the output folder
    task: LabeledTask, model: str, settings: FinetuneSettings, taught: Path, twins: Path, into: Path, machine: Machine
) -> None:
    """Measure how far fine-tuning and its controls changed each head's attention maps, and write the result.

    Each model is compared with the initial model. ``taught`` is the folder of the fine-tuned model, ``twins`` that of
    the controls. The result is written to ``into``, in the format of ``probing.fine_tuning_changes``, with the
    snapshots of the training. If nothing can be compared, the reason is written instead. Raise UserError if the initial
    model is missing.
    """
    silence_transformers()
    start = open_start(task.labels, model, settings, machine)
    torch.set_num_threads(settings.threads)  # loading a model sets the app's number of threads
    seen = sample_unseen(task.labels, start, settings)
    if seen is None:
        fine_tuning_changes.refuse(
            into,
            gettext_lazy("All test texts are also train texts, so no maps can be compared."),
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
