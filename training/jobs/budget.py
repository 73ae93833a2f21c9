"""Limits of a training that a visitor requests, and the rows of its data."""

from __future__ import annotations

import json
import lzma
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from i18n import gettext_lazy
from inference.errors import UserError
from inference.files import checkpoint, sources
from inference.settings import Settings
from probing.labelled.files import MOST_ROWS
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText
from training.jobs.job import CHARACTERS, JobStatus

SAVED = 2  # bytes per parameter of a saved model
# Bytes per parameter during training: the checkpoint with AdamW's moments, the best weights, and the saved model.
WHILE_LEARNING = 12 + 4 + SAVED
BESIDE = 5_000_000  # bytes of a tokenizer, the rows and the predictions
MOST_KEPT = 200  # kept jobs, regardless of their size
FROM_NOTHING = 1_000_000  # approximate parameters of a small character model


def size(folder: Path) -> int:
    """Return the size of a folder's files in bytes, ignoring files that disappear meanwhile."""
    found = 0
    for file in folder.rglob("*"):
        try:
            found += file.lstat().st_size if not file.is_dir() else 0
        except OSError:
            continue
    return found


def numbers(model: str, revision: str | None, settings: Settings) -> int:
    """Return the number of parameters of a local model; raise UserError if it is not on this machine."""
    if model == CHARACTERS:
        return FROM_NOTHING
    source = sources.find(model, revision, settings)
    return checkpoint.inspect(source.folder, source.name).parameters


def pushed_out(looks: Iterable[JobStatus], budget: int, coming: int) -> tuple[JobStatus, ...]:
    """Return the jobs to delete, oldest first, so that a new model fits into ``budget`` bytes.

    ``coming`` is its number of parameters. Jobs that wait or run, and models that they start from, are never
    deleted.
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
    """Raise UserError if the disk is too full to fine-tune a model of ``coming`` parameters."""
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


PARTS = ("train", "dev", "test")
BROKEN = gettext_lazy("The rows of this training cannot be read. Remove it, and bring them again.")


def write(labels: LabeledDataset, file: Path) -> None:
    """Write labelled texts to a file; raise UserError if there are more rows than a training reads."""
    many = sum(len(getattr(labels, part)) for part in PARTS)
    if many > MOST_ROWS:
        raise UserError(
            gettext_lazy(
                "There are {many:,} rows; at most {most:,} are learned from. Bring a part of them.",
                many=many,
                most=MOST_ROWS,
            )
        )
    with lzma.open(file, "wt", preset=1, encoding="utf-8", newline="\n") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in _lines(labels))


def read(file: Path) -> LabeledDataset:
    """Read labelled texts from a file; raise UserError if it is malformed."""
    try:
        with lzma.open(file, "rt", encoding="utf-8", newline="\n") as stream:
            head = json.loads(stream.readline())
            make = {"classify": _parse_labeled, "tag": _parse_tagged}[head["kind"]]
            if sum(head["rows"]) > MOST_ROWS:
                raise ValueError("too many rows")
            parts: Any = [[make(json.loads(stream.readline())) for _ in range(many)] for many in head["rows"]]
        return LabeledDataset(head["kind"], tuple(map(str, head["labels"])), *parts)
    except (OSError, EOFError, ValueError, LookupError, TypeError, RecursionError, lzma.LZMAError) as error:
        raise UserError(BROKEN) from error


def _lines(labels: LabeledDataset) -> Iterator[Any]:
    rows = [getattr(labels, part) for part in PARTS]
    yield {"kind": labels.kind, "labels": labels.labels, "rows": [len(part) for part in rows]}
    for part in rows:
        for row in part:
            yield [row.text, row.label] if isinstance(row, LabeledText) else [row.text, row.words, row.tags]


def _parse_labeled(line: Any) -> LabeledText:
    text, label = line
    return LabeledText(str(text), str(label))


def _parse_tagged(line: Any) -> TaggedText:
    text, words, tags = line
    return TaggedText(str(text), tuple((int(start), int(end)) for start, end in words), tuple(map(str, tags)))
