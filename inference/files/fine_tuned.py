"""Models that were taught a task in the app: `taught/<id>` is a model of this machine, and never one of the hub.

An id is drawn at random, so that nobody guesses it: whoever has the link may open the model, and nobody else.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from i18n import gettext_lazy
from inference.errors import UserError
from inference.files.checkpoint import WEIGHTS
from inference.settings import Settings

PREFIX = "taught/"
ID = re.compile(r"[A-Za-z0-9_-]{22}")  # 16 random bytes, as base64url writes them
JOB, MODEL, SCORES = "job.json", "model", "evaluation.json"
MOST_BYTES = 100_000  # of a job.json
GONE = gettext_lazy(
    "This taught model is not here. Such models are removed to make room for newer ones, or by whoever taught them;"
    " pick another model."
)


def place_of(settings: Settings) -> Path:
    """Where all taught models lie, or will lie: the operator's folder, else beside what the app unpacks."""
    from huggingface_hub import constants

    return settings.taught or (settings.cache or Path(constants.HF_HOME)) / "headlight" / "taught"


def is_taught(name: str) -> bool:
    """Whether a model's name means a taught one, be it here or not.

    >>> is_taught("taught/abc"), is_taught("google-bert/bert-base-cased")
    (True, False)
    """
    return name.startswith(PREFIX)


def folder(place: Path, name: str) -> Path:
    """The folder of a training by its id, or by the name of its model; raises Refusal where there is none.

    A link is no such folder, wherever it leads.
    """
    wanted = place / name.removeprefix(PREFIX)
    if not ID.fullmatch(name.removeprefix(PREFIX)) or wanted.is_symlink() or not (wanted / JOB).is_file():
        raise UserError(GONE, way_out="embedded")
    return wanted


def resolve(name: str, settings: Settings) -> Path:
    """The folder of a taught model's files; raises Refusal where it is gone, or nothing is saved in it yet."""
    found = folder(place_of(settings), name) / MODEL
    if found.is_symlink() or not found.is_dir():
        raise UserError(GONE, way_out="embedded")
    if not ((found / WEIGHTS).is_file() and (found / SCORES).is_file()):
        raise UserError(gettext_lazy("This model is still being taught. Wait until it is saved, or pick another one."))
    return found


def state_stamp(name: str, settings: Settings) -> str | None:
    """Which saved state of a taught model is there now: another one once it went on learning. None where none is."""
    try:
        return f"{(resolve(name, settings) / SCORES).stat().st_mtime_ns:x}"
    except (UserError, OSError):
        return None


def title(name: str, settings: Settings) -> str:
    """What its teacher called it: text from a visitor. Raises Refusal where it is gone."""
    try:
        with (folder(place_of(settings), name) / JOB).open("rb") as stream:
            found = json.loads(stream.read(MOST_BYTES))["title"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise UserError(GONE, way_out="embedded") from error
    return str(found)[:120] or name
