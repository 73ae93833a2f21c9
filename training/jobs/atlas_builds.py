"""Builds of head atlases from visitors' texts: one process at a time, with progress for the pages."""

from __future__ import annotations

import json
import re
import secrets
import shutil
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from i18n import gettext_lazy
from inference.errors import UserError
from probing.atlas.create import BuildStep
from probing.atlas.store import MANIFEST
from probing.atlas.texts import SUFFIXES
from training.jobs import job as jobs
from training.jobs.job import LOG, State, Status
from training.jobs.queue import (
    AT_ONCE,
    CUT_OFF,
    NO_MEMORY,
    OUT_OF_MEMORY,
    UNEXPECTED,
    TrainingProcess,
    is_running,
    last_words,
    send_signal,
)

NAME = "atlas"  # name of the subcommand
COMMAND = (sys.executable, "-m", "training", NAME)
FOLDER = "atlases"  # of the builds, in the folder of the fine-tuned models
REQUEST, PROGRESS, TEXTS, ATLAS = "request.json", "progress.json", "texts", "atlas"
MOST_TOKENS, DEFAULT_TOKENS = 1_000_000, 50_000
MOST_FILES, MOST_BYTES = 10, 50_000_000  # of a build: files, and bytes of all files together
MOST_OF_ONE, MOST_KEPT = 4, 40  # kept builds of a visitor, and of all visitors
LINKS = 10_000  # of each head, so that an atlas has at most about 20 MB
BUSY = gettext_lazy("Another atlas is being built. Try again in some minutes.")
NO_BUILD = gettext_lazy("This training or atlas was removed, or its link is incomplete.")
IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{22}")


@dataclass(frozen=True)
class AtlasBuild:
    """A visitor's request for an atlas. ``title`` is untrusted text."""

    id: str
    owner: str
    title: str
    model: str
    revision: str | None
    tokens: int
    begun: str  # ISO 8601, UTC


@dataclass(frozen=True)
class AtlasBuildStatus:
    """The state of an atlas build, and its last reported step; ``said`` is the error message if it failed."""

    build: AtlasBuild
    state: State
    step: BuildStep
    said: str
    folder: Path

    @property
    def atlas(self) -> Path:
        """Return the folder of the atlas."""
        return self.folder / ATLAS

    @property
    def has_atlas(self) -> bool:
        """Return True if there is an atlas to open, complete or of a part of the texts."""
        return (self.atlas / MANIFEST).is_file()


class AtlasBuilds:
    """The atlas builds in a folder; the class is thread-safe and runs one build at a time."""

    def __init__(self, root: Path, command: tuple[str, ...] = COMMAND) -> None:
        """Use the folder FOLDER in ``root``, the folder of the fine-tuned models."""
        self.root, self.place, self.command = root.absolute(), root.absolute() / FOLDER, command
        self._lock = threading.RLock()
        self._process: TrainingProcess | None = None
        self._current = ""
        self._thread: threading.Thread | None = None

    def start(
        self, owner: str, model: str, revision: str | None, tokens: int, files: Sequence[tuple[str, bytes]]
    ) -> AtlasBuild:
        """Store uploaded files, given as (name, content), start a build of their atlas, and return the build.

        If a visitor or the app has too many builds, the oldest are deleted. Raise UserError if a build is running, if
        the files are too many or too large, or if nothing can be written.
        """
        _check(files)
        title = f"{files[0][0][:60]} · {model.rpartition('/')[2][:60]}"
        begun = datetime.now(UTC).isoformat(timespec="microseconds")
        build = AtlasBuild(
            secrets.token_urlsafe(16), owner, title, model, revision, min(max(1, tokens), MOST_TOKENS), begun
        )
        with self._lock:
            self._refuse_second()
            self._make_room(owner)
            folder = self.place / build.id
            try:
                (folder / TEXTS).mkdir(parents=True)
                for number, (name, content) in enumerate(files):
                    (folder / TEXTS / f"{number}{suffix_of(name)}").write_bytes(content)
                jobs.replace_file(folder / REQUEST, json.dumps(asdict(build)) + "\n")
                self._run(folder)
            except OSError as error:
                shutil.rmtree(folder, ignore_errors=True)
                raise UserError(gettext_lazy("This could not be started: {reason}.", reason=error.strerror)) from error
        return build

    def go_on(self, build_id: str) -> None:
        """Continue a stopped or failed build.

        Raise UserError if another build is running, or if the build does not exist.
        """
        with self._lock:
            found = self.look(build_id)
            if found.state in ("stopped", "failed"):
                self._refuse_second()
                self._run(found.folder)

    def stop(self, build_id: str) -> None:
        """Stop a build; the texts read so far become its atlas. Raise UserError if the build does not exist."""
        with self._lock:
            folder = self.look(build_id).folder
            if build_id == self._current and self._process is not None:
                self._process.end(signal.SIGTERM)
            else:
                send_signal(jobs.status(folder).pid, folder, signal.SIGTERM)

    def remove(self, build_id: str) -> None:
        """Delete a build with its files, and end its process; raise UserError if the build does not exist."""
        with self._lock:
            folder = self.look(build_id).folder
            if build_id == self._current and self._process is not None:
                self._process.end(AT_ONCE)
        shutil.rmtree(folder, ignore_errors=True)

    def look(self, build_id: str) -> AtlasBuildStatus:
        """Return the state of a build; raise UserError if it does not exist."""
        folder = self.place / build_id
        if not IDENTIFIER.fullmatch(build_id) or not folder.is_dir():
            raise UserError(NO_BUILD)
        try:
            build = AtlasBuild(**json.loads((folder / REQUEST).read_bytes()))
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise UserError(NO_BUILD) from error
        found = jobs.status(folder)
        state, said = found.state, found.said
        if state == "running" and build_id != self._current and not is_running(found.pid, folder):
            state, said = "stopped", CUT_OFF
        return AtlasBuildStatus(build, state, _step(folder / PROGRESS), said, folder)

    def builds_of(self, owner: str | None = None) -> tuple[AtlasBuildStatus, ...]:
        """Return the builds of a visitor, or all builds if ``owner`` is None, newest first."""
        found = []
        for folder in self.place.glob("*") if self.place.is_dir() else ():
            try:
                look = self.look(folder.name)
            except UserError:
                continue
            if owner in (None, look.build.owner):
                found.append(look)
        return tuple(sorted(found, key=lambda look: look.build.begun, reverse=True))

    def wait(self) -> None:
        """Block until no build of this object is running."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _refuse_second(self) -> None:
        if self._current or any(look.state == "running" for look in self.builds_of()):
            raise UserError(BUSY)

    def _make_room(self, owner: str) -> None:
        """Remove the oldest builds of a visitor and of all, so that there is room for another."""
        every = self.builds_of()
        own = [look for look in every if look.build.owner == owner]
        for look in {one.build.id: one for one in (*own[MOST_OF_ONE - 1 :], *every[MOST_KEPT - 1 :])}.values():
            shutil.rmtree(look.folder, ignore_errors=True)

    def _run(self, folder: Path) -> None:
        """Start the process of a build, and a thread that waits for its end; called under the lock."""
        jobs.set_status(folder, Status("running"))
        self._process, self._current = TrainingProcess(self.command, folder, self.root), folder.name
        self._thread = threading.Thread(target=self._wait_for_end, args=(self._process, folder), daemon=True)
        self._thread.start()

    def _wait_for_end(self, process: TrainingProcess, folder: Path) -> None:
        """Wait for the end of a build, and record it if the process has not done so."""
        code = process.wait()
        with self._lock:
            self._process, self._current = None, ""
            if folder.is_dir() and jobs.status(folder).state == "running":
                jobs.set_status(folder, Status(*_end_state(folder, code, process.asked_to_end)))


def _check(files: Sequence[tuple[str, bytes]]) -> None:
    """Raise UserError if uploaded files are too many or too large."""
    size = sum(len(content) for _name, content in files)
    if not files or len(files) > MOST_FILES or size > MOST_BYTES:
        raise UserError(
            gettext_lazy(
                "Give 1 to {most} files with at most {size:.0f} MB together.", most=MOST_FILES, size=MOST_BYTES / 1e6
            )
        )


def suffix_of(name: str) -> str:
    """Return the suffix of a file name in lower case if it names a supported format, else ".txt".

    >>> suffix_of("a.JSONL"), suffix_of("../../etc/passwd"), suffix_of("b.tsv")
    ('.jsonl', '.txt', '.tsv')
    """
    suffix = Path(name).suffix.lower()
    return suffix if suffix in SUFFIXES else ".txt"


def _step(file: Path) -> BuildStep:
    """Return the last step that a build has written."""
    try:
        raw: dict[str, Any] = json.loads(file.read_bytes())
        return BuildStep(str(raw["phase"]), int(raw["done"]), int(raw["total"]))
    except (OSError, ValueError, LookupError, TypeError):
        return BuildStep("texts", 0)


def _end_state(folder: Path, code: int, asked_to_end: bool) -> tuple[State, jobs.Phase, str]:
    """Return the state, and the message, of a build that ended without writing its own state."""
    if asked_to_end:
        return "stopped", "teach", ""
    last = last_words(folder / LOG)
    no_memory = code == -9 or any(words in last for words in NO_MEMORY)
    return "failed", "teach", OUT_OF_MEMORY if no_memory else UNEXPECTED
