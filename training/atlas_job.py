"""The command ``python -m training atlas FOLDER``, which builds the atlas that a visitor asked for on a page."""

from __future__ import annotations

import json
import os
import shutil
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from inference.backend import LocalBackend
from inference.errors import UserError
from inference.settings import Settings
from probing.atlas.build import AtlasPlan
from probing.atlas.create import BuildStep, UncachedBackend, create_atlas
from training.finetune.job_command import end_with_parent, lower_priority
from training.jobs import job as jobs
from training.jobs.atlas_builds import ATLAS, LINKS, PROGRESS, REQUEST, TEXTS, AtlasBuild
from training.jobs.job import Status

LONGEST = 3 * 3600.0  # seconds after which a build stops with the texts read so far
MEMORY = 6 * 2**30  # bytes of data that the process may allocate, against compressed files of enormous texts
EVERY = 0.5  # seconds between two writes of the progress


def run(folder: Path) -> None:
    """Build or continue the head atlas whose request is in ``folder``, and write its status there.

    Raise UserError if the atlas cannot be built.
    """
    folder = folder.absolute()
    build = AtlasBuild(**json.loads((folder / REQUEST).read_bytes()))
    lower_priority()
    end_with_parent()
    _limit_memory()
    jobs.set_status(folder, Status("running", pid=os.getpid()))
    plan = AtlasPlan(
        tuple(sorted((folder / TEXTS).iterdir())),
        build.model,
        build.revision,
        build.tokens,
        LINKS,
    )
    try:
        complete = _create(plan, folder)
    except KeyboardInterrupt:  # outside the reading of texts, which keeps what it has read
        jobs.set_status(folder, Status("stopped"))
    except UserError as refusal:
        jobs.set_status(folder, Status("failed", said=refusal.message))
        raise
    else:
        jobs.set_status(folder, Status("done" if complete else "stopped"))
        if complete:
            shutil.rmtree(folder / TEXTS, ignore_errors=True)  # the atlas has the windows


def _create(plan: AtlasPlan, folder: Path) -> bool:
    """Create the atlas, write its progress, and return True if it is complete."""
    began, written = time.monotonic(), [0.0]

    def say(step: BuildStep) -> None:
        if time.monotonic() - written[0] > EVERY:
            jobs.replace_file(folder / PROGRESS, json.dumps(asdict(step)) + "\n")
            written[0] = time.monotonic()

    backend = UncachedBackend(LocalBackend(Settings.from_env()))
    return create_atlas(backend, plan, folder / ATLAS, say, lambda: time.monotonic() - began > LONGEST)[1]


def _limit_memory() -> None:
    """Limit the data of this process, if the system can."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
