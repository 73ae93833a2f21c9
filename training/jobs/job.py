"""A training that a visitor asked for: its request, its folder, its archive."""

from __future__ import annotations

import io
import json
import os
import re
import secrets
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from i18n import gettext_lazy, serialization
from inference.errors import UserError
from inference.files import sources
from inference.files.checkpoint import WEIGHTS
from inference.settings import cores
from probing.labelled.labeled_texts import Kind
from training.finetune.settings import CHARACTERS, FinetuneSettings

__all__ = [
    "CHARACTERS",
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
LONGEST = {"title": 120, "source": 400, "model": 400}  # characters
MOST_METRICS = 20_000_000  # bytes that are read of a run's curves
UNREADABLE = gettext_lazy("What was asked of this training cannot be read. Remove it, and ask again.")


@dataclass(frozen=True)
class Training:
    """What was asked. ``title`` and ``source`` are text from a visitor."""

    id: str
    owner: str  # whoever asked, as ui/run/fine_tuning.py tells visitors apart; "" for nobody known
    title: str  # shown in lists
    kind: Kind
    data: str  # the id of a ready set; "" where the rows are the visitor's own
    source: str  # the names of the visitor's files
    model: str
    revision: str | None
    settings: FinetuneSettings
    begun: str  # when it was asked, ISO, UTC

    @property
    def name(self) -> str:
        """What its model is called in the app."""
        return sources.PREFIX + self.id

    @property
    def slug(self) -> str:
        """The title as a file's name, on any system.

        >>> new_job("", "Snips: what is asked for · BERT", "classify", model="bert").slug
        'headlight-snips-what-is-asked-for-bert'
        """
        plain = re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")[:60].rstrip("-")
        return f"headlight-{plain or self.id[:6]}"


@dataclass(frozen=True)
class Status:
    """How a job stands by its status.json. ``pid`` is the process that has it in hand while it runs."""

    state: State
    phase: Phase = "teach"
    said: str = ""  # the sentence of a failure
    turn: int = 0  # whose is lower comes first; where they are the same, who waits longer
    since: float = 0.0  # when it began to wait, by the machine's clock
    pid: int = 0


@dataclass(frozen=True)
class JobStatus:
    """How a job stands, read from its folder."""

    job: Training
    state: State
    phase: Phase
    said: str
    ahead: int  # jobs that come before it
    folder: Path
    turn: int = 0
    since: float = 0.0  # as in Status

    @property
    def model(self) -> Path:
        """Where its model is, in transformers' layout."""
        return self.folder / sources.MODEL

    @property
    def has_model(self) -> bool:
        """Whether a model is saved with all that is told of it."""
        return all((self.model / name).is_file() for name in (WEIGHTS, sources.SCORES, PREDICTIONS))

    def lines(self, kind: str, phase: Phase | None = None) -> list[dict[str, Any]]:
        """The lines of one kind in a phase's curves, in order; of the phase that it is in where none is named."""
        run = {"teach": self.model, "twin": self.folder / TWIN}.get(phase or self.phase)
        return [] if run is None else metrics(run / "run" / "metrics.jsonl", kind)


def new_job(  # noqa: PLR0913  # everything that a visitor may say of a training
    owner: str,
    title: str,
    kind: Kind,
    *,
    model: str,
    revision: str | None = None,
    data: str = "",
    source: str = "",
    settings: FinetuneSettings | None = None,
) -> Training:
    """A new job, with an id that nobody guesses."""
    begun = datetime.now(UTC).isoformat(timespec="microseconds")
    title, source = title[: LONGEST["title"]], source[: LONGEST["source"]]
    drawn = secrets.token_urlsafe(16)
    return Training(drawn, owner, title, kind, data, source, model, revision, settings or default_settings(), begun)


def default_settings(**changes: Any) -> FinetuneSettings:
    """How a model is taught beside the pages: one core stays with them."""
    return FinetuneSettings(**{"threads": max(1, cores() - 1), **changes})


def write(job: Training, folder: Path) -> None:
    """Puts a job into its folder."""
    replace_file(folder / sources.JOB, json.dumps(asdict(job), indent=1) + "\n")


def read(folder: Path) -> Training:
    """The job in a folder; raises Refusal where it is no whole one, or another folder's."""
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
    """A dataclass' fields from JSON, each of its annotated type; raises ValueError or LookupError otherwise."""
    hints = get_type_hints(kind)
    found = {}
    for name in (field.name for field in fields(kind) if field.name != but):
        if name not in raw and hasattr(kind, name):
            continue  # it has a default, and was not there yet when this was written
        allowed, value = get_args(hints[name]) or (hints[name],), raw[name]
        numbers = (int, float) if float in allowed else ()
        if value not in allowed and type(value) not in (*allowed, *numbers):
            raise ValueError(f"{name} is {value!r}")
        found[name] = value
    return found


def status(folder: Path) -> Status:
    """How a folder's job stands by its own file; stopped where that cannot be read."""
    try:
        with (folder / STATUS).open("rb") as stream:
            raw = json.loads(stream.read(sources.MOST_BYTES))
        found = Status(**_parse_fields(Status, raw))
        return replace(found, said=serialization.restore_message(found.said, raw.get("of")))
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return Status("stopped")


def update_status(folder: Path, state: State, **changes: Any) -> None:
    """Says how a folder's job stands from now on; what is not named stays as it was."""
    set_status(folder, replace(status(folder), state=state, **changes))


def set_status(folder: Path, found: Status) -> None:
    """Puts it into the folder."""
    replace_file(folder / STATUS, json.dumps({**asdict(found), "of": serialization.message_parts(found.said)}) + "\n")


def replace_file(file: Path, text: str) -> None:
    """Writes a file whole: who reads it meanwhile reads the old one."""
    partial = file.with_name(f".{file.name}-{secrets.token_hex(4)}")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, file)


def metrics(file: Path, kind: str) -> list[dict[str, Any]]:
    """The lines of one kind in a metrics.jsonl that may be written at the same time; what is no whole line is left."""
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


def iterate_zip(model: Path, name: str) -> Iterator[bytes]:
    """The files of a model's folder, in a folder of this name, as the bytes of a zip file; raises OSError.

    Without what its run needs to go on. Nothing is compressed: weights are as good as random bytes.
    """
    sink = _Sink()
    with ExitStack() as opened, zipfile.ZipFile(sink, "w") as made:
        files = sorted(file for file in model.iterdir() if file.is_file() and not file.is_symlink())
        # All are opened before any is sent: what is removed meanwhile comes whole.
        entries = [zipfile.ZipInfo.from_file(file, f"{name}/{file.name}", strict_timestamps=False) for file in files]
        streams = [opened.enter_context(file.open("rb")) for file in files]
        for entry, stream in zip(entries, streams, strict=True):
            with made.open(entry, "w", force_zip64=True) as written:
                while block := stream.read(BLOCK):
                    written.write(block)
                    yield sink.drain()
    yield sink.drain()


class _Sink(io.RawIOBase):
    """Where a zip file is written to; what was written since the last time is taken from it."""

    def __init__(self) -> None:
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        block = bytes(data)  # type: ignore[call-overload]  # whatever has a buffer
        self._held += block
        return len(block)

    def drain(self) -> bytes:
        """What was written since the last time."""
        taken, self._held = bytes(self._held), bytearray()
        return taken
