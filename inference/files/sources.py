"""The lookup of a model's verified files by its name."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from i18n import gettext_lazy
from inference.errors import UserError
from inference.files import embedded, extras, hub
from inference.files.checkpoint import WEIGHTS, refuse_too_large
from inference.files.hub import check_id, check_listed, check_revision
from inference.request import EMBEDDED
from inference.settings import Settings

HALF = re.compile("[\ud800-\udfff]")  # a lone surrogate, which no file name contains
CHECKPOINT = re.compile(r"checkpoint-(\d{1,12})", re.ASCII)
_OUTSIDE = gettext_lazy(
    "Local models must be in the operator's HEADLIGHT_MODEL_FOLDERS. Use one, or a hub id such as "
    '"google-bert/bert-base-uncased".'
)


def is_path(name: str) -> bool:
    """Return True if a model's name is a path.

    Any other name is a hub id and never touches the file system.

    >>> is_path("/models/mine"), is_path("./mine"), is_path("google-bert/bert-base-uncased")
    (True, True, False)
    """
    return name.startswith(("/", ".", "~")) or "\\" in name or name[1:3] == ":/" or ".." in name.split("/")


def resolve_folder(path: str, allowed: Sequence[Path]) -> Path:
    """Return the real folder of ``path``; raise UserError if it lies outside of the ``allowed`` folders.

    The message does not reveal if a path outside of these folders exists. Links inside an allowed folder may not lead
    out of it. Raise UserError also if the path is not a folder. If the folder has no config.json, return its latest
    checkpoint.
    """
    if not allowed:
        raise UserError(_OUTSIDE, way_out="embedded")
    parts = path.replace("\\", "/").split("/")
    if "\0" in path or HALF.search(path) or ".." in parts or len(path) > 4096:
        raise UserError(_OUTSIDE, way_out="embedded")
    roots = [Path(os.path.abspath(root)) for root in allowed]
    wanted = Path(os.path.normpath(path)) if os.path.isabs(path) else roots[0] / os.path.normpath(path)
    real_roots = [Path(os.path.realpath(root)) for root in roots]
    if not any(wanted.is_relative_to(root) for root in [*roots, *real_roots]):
        raise UserError(_OUTSIDE, way_out="embedded")
    real = Path(os.path.realpath(wanted))
    if not any(real.is_relative_to(root) for root in real_roots):
        raise UserError(_OUTSIDE, way_out="embedded")
    if not os.path.isdir(real):  # unlike Path.is_dir, it returns False for invalid names
        there = os.path.exists(real)
        what = gettext_lazy("a file, not a folder with config.json") if there else gettext_lazy("not there")
        raise UserError(
            gettext_lazy('"{name}" is {what}. Pick a model\'s folder.', name=wanted.name, what=what),
            way_out="embedded",
        )
    inside = real if (real / "config.json").exists() else _last_checkpoint(real)
    return real if inside is None else inside


def _last_checkpoint(folder: Path) -> Path | None:
    """Return the folder ``checkpoint-N`` with the most steps N and a configuration, or None."""
    try:
        found = [(int(match[1]), entry) for entry in folder.iterdir() if (match := CHECKPOINT.fullmatch(entry.name))]
    except OSError:
        return None
    usable = [
        (steps, entry)
        for steps, entry in found
        if not entry.is_symlink() and ((entry / "config.json").is_file() or (entry / "adapter_config.json").is_file())
    ]
    return max(usable)[1] if usable else None


def folder_title(folder: Path) -> str:
    """Return the name of a model folder; a checkpoint of a trainer is named "run/checkpoint-N".

    >>> folder_title(Path("/models/run/checkpoint-500")), folder_title(Path("/models/mine"))
    ('run/checkpoint-500', 'mine')
    """
    return f"{folder.parent.name}/{folder.name}" if CHECKPOINT.fullmatch(folder.name) else folder.name


def iterate_folders(allowed: Sequence[Path]) -> Iterator[Path]:
    """Yield the folders with a config.json inside the allowed folders, up to two levels deep, by name."""
    for root in allowed:
        for pattern in ("config.json", "*/config.json", "*/*/config.json"):
            try:
                found = sorted(root.glob(pattern))
            except OSError:
                continue  # skip folders that this process may not read
            yield from (file.parent for file in found)


PREFIX = "taught/"
ID = re.compile(r"[A-Za-z0-9_-]{22}")  # 16 random bytes in base64url
JOB, MODEL, SCORES = "job.json", "model", "evaluation.json"
MOST_BYTES = 100_000  # the largest job.json that is read
GONE = gettext_lazy("This fine-tuned model was deleted. Pick another model.")


def fine_tuned_root(settings: Settings) -> Path:
    """Return the folder that contains all fine-tuned models: that of the settings, or a folder in the cache."""
    from huggingface_hub import constants

    return settings.taught or (settings.cache or Path(constants.HF_HOME)) / "headlight" / "taught"


def is_taught(name: str) -> bool:
    """Return True if a name has the form of a fine-tuned model's name, even if the model is not on this machine.

    >>> is_taught("taught/abc"), is_taught("google-bert/bert-base-cased")
    (True, False)
    """
    return name.startswith(PREFIX)


def folder(place: Path, name: str) -> Path:
    """Return the folder of a fine-tuning job in ``place``, given the job's id or the name of its model.

    Raise UserError if the folder is missing or a symbolic link.
    """
    wanted = place / name.removeprefix(PREFIX)
    if not ID.fullmatch(name.removeprefix(PREFIX)) or wanted.is_symlink() or not (wanted / JOB).is_file():
        raise UserError(GONE, way_out="embedded")
    return wanted


def resolve_fine_tuned(name: str, settings: Settings) -> Path:
    """Return the folder of a fine-tuned model's files; raise UserError if the model is missing or not saved yet."""
    found = folder(fine_tuned_root(settings), name) / MODEL
    if found.is_symlink() or not found.is_dir():
        raise UserError(GONE, way_out="embedded")
    if not ((found / WEIGHTS).is_file() and (found / SCORES).is_file()):
        raise UserError(gettext_lazy("This model is still training. Wait, or pick another model."))
    return found


def state_stamp(name: str, settings: Settings) -> str | None:
    """Return a string that changes each time a fine-tuned model is saved, or None if the model was never saved."""
    try:
        return f"{(resolve_fine_tuned(name, settings) / SCORES).stat().st_mtime_ns:x}"
    except (UserError, OSError):
        return None


def fine_tuned_title(name: str, settings: Settings) -> str:
    """Return the title that a visitor gave to a fine-tuned model; raise UserError if the model is missing."""
    try:
        with (folder(fine_tuned_root(settings), name) / JOB).open("rb") as stream:
            found = json.loads(stream.read(MOST_BYTES))["title"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise UserError(GONE, way_out="embedded") from error
    return str(found)[:120] or name


@dataclass(frozen=True)
class ModelSource:
    """The folder of a model's files, its name, and its commit if it is from the hub."""

    name: str
    revision: str | None
    folder: Path


def find(name: str, revision: str | None, settings: Settings) -> ModelSource:
    """Return the source of the model ``name``; raise UserError if the model cannot be opened.

    A name is opened as a path only if it looks like a path. Any other name is a hub id, even if a folder has the same
    name. For a hub model that is not downloaded, the UserError has ``way_out="download"`` and the offer to download it;
    this function downloads nothing. The source of a hub model states the commit of its files, because branches move.
    """
    if name == EMBEDDED:
        return ModelSource(name, None, embedded.folder())
    if name in embedded.OWN:
        return ModelSource(name, None, embedded.own_folder(name))
    if (extra := extras.find_extra(name)) is not None:
        return ModelSource(name, None, extra.folder(settings))
    if is_taught(name):  # the name works as a secret link, so the source shows the title instead
        return ModelSource(fine_tuned_title(name, settings), None, resolve_fine_tuned(name, settings))
    if is_path(name):
        folder = resolve_folder(name, settings.model_folders)
        return ModelSource(
            folder_title(folder), None, folder
        )  # only the last part, because a full path reveals details of this machine
    check_id(name)
    check_revision(revision)
    check_listed(name, revision, settings)
    downloaded = hub.cached_folder(name, revision, settings)
    if downloaded is not None:
        return ModelSource(name, downloaded.name, downloaded)
    offer = hub.fetch_offer(name, revision, settings)
    refuse_too_large(name, offer.memory_bytes, settings.largest_model)
    raise UserError(
        gettext_lazy(
            "{name} is not on this machine. Download it ({megabytes:,.0f} MB).",
            name=name,
            megabytes=offer.nbytes / 1e6,
        ),
        way_out="download",
        details={"model": name, "revision": revision, "bytes": offer.nbytes, "offer": offer},
    )


def is_local(name: str, revision: str | None, settings: Settings) -> bool:
    """Return True if a model can be loaded without the network; the check does not use the network."""
    if (extra := extras.find_extra(name)) is not None:
        return extra.is_installed()
    try:
        if name in (EMBEDDED, *embedded.OWN) or is_taught(name) or is_path(name):
            find(name, revision, settings)
            return True
        check_listed(name, revision, settings)
        return hub.cached_folder(check_id(name), check_revision(revision), settings) is not None
    except UserError:
        return False
