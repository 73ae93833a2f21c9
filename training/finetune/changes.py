"""What teaching changed in a model's heads, and what the same training does that has nothing to learn."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from attention.mask import FloatArray
from i18n import gettext_lazy
from inference.building import silence_transformers
from inference.errors import UserError
from inference.settings import Settings as Machine
from probing import fine_tuning_changes
from probing.fine_tuning_changes import SIDES, WHO, ChangeFacts, ComparedSentence
from probing.labelled.labeled_texts import LabeledText
from training.finetune import snapshots
from training.finetune.drift import Drift
from training.finetune.fine_tune import RUN
from training.finetune.labeled_task import LabeledTask
from training.finetune.model_setup import reopen_model
from training.finetune.run_setup import open_start
from training.finetune.settings import FinetuneSettings
from training.finetune.shuffled_label_control import places
from training.finetune.snapshot_recorder import SnapshotRecorder
from training.finetune.unseen_sentences import names, sample_unseen
from training.folder import SCORES


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
