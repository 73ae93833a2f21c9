"""What teaching changed in a model's heads, and what the same training does that has nothing to learn."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from attention.mask import Array
from inference.building import quiet
from inference.errors import Refusal
from inference.settings import Settings as Machine
from probing import changed
from probing.changed import SIDES, WHO, Facts, Seen
from probing.labelled.rows import Classified
from training.finetune import film
from training.finetune.camera import Camera
from training.finetune.drift import Drift
from training.finetune.opening import reopened
from training.finetune.ready import begun
from training.finetune.settings import Settings
from training.finetune.task import Task
from training.finetune.teach import RUN
from training.finetune.twin import places
from training.finetune.untaught import names, untaught
from training.folder import SCORES
from wording import sentence


def compare(  # noqa: PLR0913  # what the task was taught with, where both lie, and where it is written
    task: Task, model: str, settings: Settings, taught: Path, twins: Path, into: Path, machine: Machine
) -> None:
    """Compares the maps of the model in ``taught``, and of its twins inside ``twins``, with what they were before.

    Written is what ``probing.changed`` reads; the film of the task's run is kept there too. Where there is nothing to
    compare, that is written: the model is as well taught. Raises Refusal where the start is gone.
    """
    quiet()
    start = begun(task.labels, model, settings, machine)
    torch.set_num_threads(settings.threads)  # opening a model sets the app's own number
    seen = untaught(task.labels, start, settings)
    if seen is None:
        changed.refuse(
            into,
            sentence("All test texts are among the train texts too, so there is nothing to compare the maps on."),
        )
        return
    try:
        drift = Drift(Camera(start, seen), len(seen))
    except Refusal as refusal:
        changed.refuse(into, refusal.message)
        return
    bits: dict[tuple[str, str], Array] = {}
    maps = {("before", at): drift.before[at] for at in range(seen.shown)}
    for who, folder in zip(WHO, (taught, *places(twins)), strict=True):
        found, shown = drift.of(reopened(folder, task.labels.kind))
        bits |= {(who, rows): array for rows, array in found.items()}
        if who in SIDES:
            maps |= {(who, at): array for at, array in enumerate(shown)}
    changed.write(into, _facts(drift.camera, taught), bits, maps, film.developed(taught / RUN / film.FOLDER))


def _facts(camera: Camera, taught: Path) -> Facts:
    seen, start = camera.seen, camera.start
    said = json.loads((taught / SCORES).read_text(encoding="utf-8"))
    sentences = []
    for at, row in enumerate(seen.rows):
        label = row.label if isinstance(row, Classified) else " ".join(row.tags)
        sentences.append(Seen(row.text, label, names(seen, at, start) if at < seen.shown else None))
    telling = camera.called(names(seen, 0, start)[0])
    return Facts(start.name, said["task"], said["dev"]["step"], telling, tuple(sentences))
