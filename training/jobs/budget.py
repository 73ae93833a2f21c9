"""What taught models take of the disk, and which go when that is too much: the oldest first, none that is in use."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from i18n import gettext_lazy
from inference.errors import UserError
from inference.files import checkpoint, sources
from inference.settings import Settings
from training.jobs.job import CHARACTERS, JobStatus

SAVED = 2  # bytes of each number of a model that is kept
# While it learns: the checkpoint with what AdamW gathers, the best weights so far, what is saved.
WHILE_LEARNING = 12 + 4 + SAVED
BESIDE = 5_000_000  # bytes of a tokenizer, the rows and what was said of them
MOST_KEPT = 200  # trainings, however small
FROM_NOTHING = 1_000_000  # numbers of a small model of characters, roughly


def size(folder: Path) -> int:
    """Bytes of a folder's files; what vanishes meanwhile has none."""
    found = 0
    for file in folder.rglob("*"):
        try:
            found += file.lstat().st_size if not file.is_dir() else 0
        except OSError:
            continue
    return found


def numbers(model: str, revision: str | None, settings: Settings) -> int:
    """How many numbers a model has, by its files here; raises Refusal where it is not here."""
    if model == CHARACTERS:
        return FROM_NOTHING
    source = sources.find(model, revision, settings)
    return checkpoint.inspect(source.folder, source.name).parameters


def pushed_out(looks: Iterable[JobStatus], budget: int, coming: int) -> tuple[JobStatus, ...]:
    """The trainings that go, the oldest first, so that a model of ``coming`` numbers has its place in the budget.

    What waits or runs stays, and what is learned on from.
    """
    found = sorted(looks, key=lambda look: look.job.begun)
    busy = [look for look in found if look.state in ("waiting", "running")]
    kept = {look.job.id for look in busy} | {look.job.model.rpartition("/")[2] for look in busy}
    sizes = {look.job.id: size(look.folder) for look in found}
    over = sum(sizes.values()) + SAVED * coming + BESIDE - budget
    gone: list[JobStatus] = []
    for look in found:
        if over <= 0 and len(found) - len(gone) <= MOST_KEPT:
            break
        if look.job.id not in kept:
            gone.append(look)
            over -= sizes[look.job.id]
    return tuple(gone)


def check_room(place: Path, coming: int) -> None:
    """Raises Refusal where the disk is too full to teach a model of so many numbers."""
    needed = WHILE_LEARNING * coming + BESIDE
    free = shutil.disk_usage(place).free
    if free < needed:
        raise UserError(
            gettext_lazy(
                "Teaching it takes {needed:,.0f} MB of the disk; {free:,.0f} MB are free.",
                needed=needed / 1e6,
                free=free / 1e6,
            )
        )
