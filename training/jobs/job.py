"""A visitor's fine-tuning job: request, rows, status and limits in a folder, and a zip file of the model."""

from __future__ import annotations

import io
import json
import lzma
import os
import re
import secrets
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from i18n import gettext_lazy, lazy
from inference.errors import UserError
from inference.files import checkpoint, sources
from inference.files.checkpoint import WEIGHTS
from inference.settings import Settings, cores
from probing.labelled.files import MOST_ROWS
from probing.labelled.labeled_texts import HeadKind, LabeledDataset, LabeledText, TaggedText
from probing.labelled.squad import GoldAnswer, PassageQuestion, QuestionSet
from training.finetune.settings import CHARACTERS, FACTS, LEAST_STEPS, FinetuneSettings

__all__ = [
    "CHARACTERS",
    "LEAST_STEPS",
    "FinetuneSettings",
    "JobStatus",
    "Phase",
    "State",
    "Status",
    "Training",
    "default_settings",
    "new_job",
]

State = Literal["waiting", "running", "stopped", "failed", "done"]
Phase = Literal["teach", "twin", "changes"]
STATUS, ROWS, LOG, TWIN, CHANGES, PREDICTIONS = (
    "status.json", "rows.xz", "log", "twin", "changes", "predictions.jsonl",
)  # fmt: skip
OWNER = re.compile(r"[0-9a-zA-Z_-]{0,64}")
LONGEST = {"title": 120, "source": 400, "model": 400}  # longest strings in a request, in characters
MOST_METRICS = 20_000_000  # bytes of metrics.jsonl that are read
UNREADABLE = gettext_lazy("This training cannot be read. Remove it and start again.")


@dataclass(frozen=True)
class Training:
    """A visitor's request to fine-tune a model. ``title`` and ``source`` are untrusted text."""

    id: str
    owner: str  # visitor id from ui/run/fine_tuning.py; "" for an unknown visitor
    title: str  # shown in lists
    kind: HeadKind
    data: str  # id of a ready-made data set; "" for the visitor's own rows
    source: str  # names of the visitor's files
    model: str
    revision: str | None
    settings: FinetuneSettings
    begun: str  # time of the request, ISO 8601, UTC

    @property
    def name(self) -> str:
        """Return the name of the fine-tuned model in the app."""
        return sources.PREFIX + self.id

    @property
    def data_title(self) -> str:
        """Return the part of the title that names the data set; the rest names the initial model.

        >>> new_job("", "own.csv · BERT", "classify", model="bert").data_title
        'own.csv'
        """
        return self.title.rpartition(" · ")[0] or self.title

    @property
    def slug(self) -> str:
        """Return the title as a file name that is valid on any system.

        >>> new_job("", "Snips: what is asked for · BERT", "classify", model="bert").slug
        'headlight-snips-what-is-asked-for-bert'
        """
        plain = re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")[:60].rstrip("-")
        return f"headlight-{plain or self.id[:6]}"


@dataclass(frozen=True)
class Status:
    """The content of a job's status.json: its state, its phase, and its turn in the queue.

    ``said`` is the message of a failure, and ``pid`` the id of the process that runs the job.
    """

    state: State
    phase: Phase = "teach"
    said: str = ""  # the message of a failure
    turn: int = 0  # lower turns run first; equal turns run in the order of ``since``
    since: float = 0.0  # start of waiting, Unix time
    pid: int = 0


@dataclass(frozen=True)
class JobStatus:
    """The status of a job, with its request and its folder."""

    job: Training
    state: State
    phase: Phase
    said: str
    ahead: int  # number of jobs ahead in the queue
    folder: Path
    turn: int = 0
    since: float = 0.0

    @property
    def model(self) -> Path:
        """Return the folder of the fine-tuned model, in transformers' layout."""
        return self.folder / sources.MODEL

    @property
    def has_model(self) -> bool:
        """Return True if the fine-tuned model is saved with its scores and predictions."""
        return all((self.model / name).is_file() for name in (WEIGHTS, sources.SCORES, PREDICTIONS))

    def facts(self) -> dict[str, Any]:
        """Return the settings with which the training began, such as its batch; {} before its first step."""
        try:
            found: dict[str, Any] = json.loads((self.model / "run" / FACTS).read_bytes())
        except (OSError, ValueError):
            return {}
        return found

    def lines(self, kind: str, phase: Phase | None = None) -> list[dict[str, Any]]:
        """Return the logged rows of the kind ``kind``, such as "step", in a phase of the job.

        The default of ``phase`` is the current phase.
        """
        run = {"teach": self.model, "twin": self.folder / TWIN}.get(phase or self.phase)
        return [] if run is None else metrics(run / "run" / "metrics.jsonl", kind)


def new_job(  # noqa: PLR0913  # all parts of a visitor's request
    owner: str,
    title: str,
    kind: HeadKind,
    *,
    model: str,
    revision: str | None = None,
    data: str = "",
    source: str = "",
    settings: FinetuneSettings | None = None,
) -> Training:
    """Return a new request to fine-tune a model, with an unguessable id; title and source are truncated."""
    begun = datetime.now(UTC).isoformat(timespec="microseconds")
    title, source = title[: LONGEST["title"]], source[: LONGEST["source"]]
    drawn = secrets.token_urlsafe(16)
    return Training(drawn, owner, title, kind, data, source, model, revision, settings or default_settings(), begun)


def default_settings(**changes: Any) -> FinetuneSettings:
    """Return the default settings for a visitor's job, with ``changes``; a CPU core is left to the pages."""
    return FinetuneSettings(**{"threads": max(1, cores() - 1), **changes})


def write(job: Training, folder: Path) -> None:
    """Write a job's request into its folder."""
    replace_file(folder / sources.JOB, json.dumps(asdict(job), indent=1) + "\n")


def read(folder: Path) -> Training:
    """Read a job's request from its folder; raise UserError if it is malformed or of another folder."""
    try:
        with (folder / sources.JOB).open("rb") as stream:
            raw = json.loads(stream.read(sources.MOST_BYTES))
        job = Training(
            **{
                **_parse_fields(Training, raw, but="settings"),
                "settings": FinetuneSettings(**_parse_fields(FinetuneSettings, raw["settings"])),
            }
        )
        if job.id != folder.name or not OWNER.fullmatch(job.owner):
            raise ValueError("of another folder")
        if any(len(getattr(job, name)) > longest for name, longest in LONGEST.items()):
            raise ValueError("too long")
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise UserError(UNREADABLE) from error
    return job


def _parse_fields(kind: type, raw: Mapping[str, Any], but: str = "") -> dict[str, Any]:
    """Return a dataclass' fields from JSON; raise ValueError or LookupError if a type does not fit."""
    hints = get_type_hints(kind)
    found = {}
    for name in (field.name for field in fields(kind) if field.name != but):
        if name not in raw and hasattr(kind, name):
            continue  # a field with a default may be missing in files of earlier versions
        allowed, value = get_args(hints[name]) or (hints[name],), raw[name]
        numbers = (int, float) if float in allowed else ()
        if value not in allowed and type(value) not in (*allowed, *numbers):
            raise ValueError(f"{name} is {value!r}")
        found[name] = value
    return found


def status(folder: Path) -> Status:
    """Read the status of the job in a folder; its state is "stopped" if the file cannot be read."""
    try:
        with (folder / STATUS).open("rb") as stream:
            raw = json.loads(stream.read(sources.MOST_BYTES))
        found = Status(**_parse_fields(Status, raw))
        return replace(found, said=lazy.restore_message(found.said, raw.get("of")))
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return Status("stopped")


def update_status(folder: Path, state: State, **changes: Any) -> None:
    """Change the state and the given fields of the status in a job's folder."""
    set_status(folder, replace(status(folder), state=state, **changes))


def set_status(folder: Path, found: Status) -> None:
    """Write a status into a job's folder."""
    replace_file(folder / STATUS, json.dumps({**asdict(found), "of": lazy.message_parts(found.said)}) + "\n")


def replace_file(file: Path, text: str) -> None:
    """Write a file atomically, so that concurrent readers see either the old or the new content."""
    partial = file.with_name(f".{file.name}-{secrets.token_hex(4)}")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, file)


def metrics(file: Path, kind: str) -> list[dict[str, Any]]:
    """Return the rows of the kind ``kind``, such as "step", in a metrics.jsonl; skip incomplete lines."""
    found = []
    try:
        with file.open("rb") as stream:
            written = stream.read(MOST_METRICS)
    except OSError:
        return []
    for line in written.splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and row.get("kind") == kind:
            found.append(row)
    return found


BLOCK = 2**20  # bytes


def iterate_zip(model: Path, name: str, left_out: str = "") -> Iterator[bytes]:
    """Yield the bytes of a zip file of a model's folder, in which the files are under ``name``; may raise OSError.

    Subfolders, such as the run's checkpoint, and the file ``left_out`` are omitted. Nothing is compressed, because
    weights barely compress.
    """
    sink = _Sink()
    with ExitStack() as opened, zipfile.ZipFile(sink, "w") as made:
        files = sorted(file for file in model.iterdir() if file.is_file() and not file.is_symlink())
        files = [file for file in files if file.name != left_out]
        # Open all files first, so that the download is complete even if the folder is removed meanwhile.
        entries = [zipfile.ZipInfo.from_file(file, f"{name}/{file.name}", strict_timestamps=False) for file in files]
        streams = [opened.enter_context(file.open("rb")) for file in files]
        for entry, stream in zip(entries, streams, strict=True):
            with made.open(entry, "w", force_zip64=True) as written:
                while block := stream.read(BLOCK):
                    written.write(block)
                    yield sink.drain()
    yield sink.drain()


class _Sink(io.RawIOBase):
    """A buffer that a zip file is written to and that ``drain`` empties."""

    def __init__(self) -> None:
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        block = bytes(data)  # type: ignore[call-overload]  # anything with the buffer protocol
        self._held += block
        return len(block)

    def drain(self) -> bytes:
        """Return the bytes written since the last call, and empty the buffer."""
        taken, self._held = bytes(self._held), bytearray()
        return taken


SAVED = 2  # bytes per parameter of a saved model
# Bytes per parameter during training: the checkpoint with AdamW's moments, the best weights, and the saved model.
WHILE_LEARNING = 12 + 4 + SAVED
BESIDE = 5_000_000  # bytes of a tokenizer, the rows and the predictions
MOST_KEPT = 200  # kept jobs, regardless of their size
FROM_NOTHING = 1_000_000  # approximate parameters of a small character model


def folder_size(folder: Path) -> int:
    """Return the size of a folder's files in bytes, ignoring files that disappear meanwhile."""
    found = 0
    for file in folder.rglob("*"):
        try:
            found += file.lstat().st_size if not file.is_dir() else 0
        except OSError:
            continue
    return found


def count_parameters(model: str, revision: str | None, settings: Settings) -> int:
    """Return the number of parameters of a local model; raise UserError if it is not on this machine."""
    if model == CHARACTERS:
        return FROM_NOTHING
    source = sources.find(model, revision, settings)
    return checkpoint.inspect(source.folder, source.name).parameters


def pushed_out(looks: Iterable[JobStatus], budget: int, coming: int) -> tuple[JobStatus, ...]:
    """Return the jobs to delete so that a new model fits into the disk space, oldest first.

    ``looks`` are all jobs. ``budget`` is the space in bytes, and ``coming`` the number of parameters of the new model.
    Jobs that wait or run are never deleted, nor are the fine-tuned models from which such jobs start.
    """
    found = sorted(looks, key=lambda look: look.job.begun)
    busy = [look for look in found if look.state in ("waiting", "running")]
    kept = {look.job.id for look in busy} | {look.job.model.rpartition("/")[2] for look in busy}
    sizes = {look.job.id: folder_size(look.folder) for look in found}
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
    """Raise UserError if the disk has too little free space to fine-tune a model.

    ``place`` is a path on the disk, and ``coming`` the number of parameters of the model.
    """
    needed = WHILE_LEARNING * coming + BESIDE
    free = shutil.disk_usage(place).free
    if free < needed:
        raise UserError(
            gettext_lazy(
                "The training needs {needed:,.0f} MB of disk; {free:,.0f} MB are free.",
                needed=needed / 1e6,
                free=free / 1e6,
            )
        )


PARTS = ("train", "dev", "test")


TaskRows = LabeledDataset | QuestionSet


def write_rows(labels: TaskRows, file: Path) -> None:
    """Write labelled texts or questions to a file; raise UserError if there are too many rows for a training."""
    many = sum(len(getattr(labels, part)) for part in PARTS)
    if many > MOST_ROWS:
        raise UserError(
            gettext_lazy(
                "There are {many:,} rows; the limit is {most:,}. Give fewer.",
                many=many,
                most=MOST_ROWS,
            )
        )
    with lzma.open(file, "wt", preset=1, encoding="utf-8", newline="\n") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in _lines(labels))


def read_rows(file: Path) -> TaskRows:
    """Read labelled texts or questions from a file; raise UserError if it is malformed."""
    try:
        with lzma.open(file, "rt", encoding="utf-8", newline="\n") as stream:
            head = json.loads(stream.readline())
            make = PARSED_BY[head["kind"]]
            if sum(head["rows"]) > MOST_ROWS:
                raise ValueError("too many rows")
            parts: Any = [[make(json.loads(stream.readline())) for _ in range(many)] for many in head["rows"]]
        if head["kind"] == "answer":
            train, dev, test = map(tuple, parts)
            return QuestionSet(train, dev, test, str(head["name"]), bool(head["no_answer"]))
        return LabeledDataset(head["kind"], tuple(map(str, head["labels"])), *parts)
    except (OSError, EOFError, ValueError, LookupError, TypeError, RecursionError, lzma.LZMAError) as error:
        raise UserError(UNREADABLE) from error


def _lines(labels: TaskRows) -> Iterator[Any]:
    rows = [getattr(labels, part) for part in PARTS]
    more = (
        {"name": labels.name, "no_answer": labels.no_answer}
        if isinstance(labels, QuestionSet)
        else {"labels": labels.labels}
    )
    yield {"kind": labels.kind, **more, "rows": [len(part) for part in rows]}
    for part in rows:
        yield from map(_line, part)


def _line(row: LabeledText | TaggedText | PassageQuestion) -> list[Any]:
    if isinstance(row, PassageQuestion):
        return [row.id, row.question, row.passage, [(answer.text, answer.start) for answer in row.answers]]
    return [row.text, row.label] if isinstance(row, LabeledText) else [row.text, row.words, row.tags]


def _parse_labeled(line: Any) -> LabeledText:
    text, label = line
    return LabeledText(str(text), str(label))


def _parse_tagged(line: Any) -> TaggedText:
    text, words, tags = line
    return TaggedText(str(text), tuple((int(start), int(end)) for start, end in words), tuple(map(str, tags)))


def _parse_question(line: Any) -> PassageQuestion:
    name, question, passage, answers = line
    golds = tuple(GoldAnswer(str(text), int(start)) for text, start in answers)
    return PassageQuestion(str(name), str(question), str(passage), golds)


PARSED_BY: Mapping[str, Callable[[Any], Any]] = {
    "classify": _parse_labeled,
    "tag": _parse_tagged,
    "answer": _parse_question,
}
