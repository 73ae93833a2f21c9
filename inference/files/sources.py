"""From a model's name to a folder of checked files."""

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

HALF = re.compile("[\ud800-\udfff]")  # half a character, which no name on a disk has
CHECKPOINT = re.compile(r"checkpoint-(\d{1,12})", re.ASCII)
_OUTSIDE = gettext_lazy(
    "Local models can be opened only inside the folders that HEADLIGHT_MODEL_FOLDERS names. Use a folder inside them,"
    ' or a hub id such as "google-bert/bert-base-uncased".'
)
_NONE_ALLOWED = gettext_lazy(
    "Local folders are switched off; the operator can allow some with HEADLIGHT_MODEL_FOLDERS. Use a hub"
    ' id such as "google-bert/bert-base-uncased".'
)


def is_path(name: str) -> bool:
    """Whether a model's name is meant as a path. Everything else is a hub id and never touches the file system.

    >>> is_path("/models/mine"), is_path("./mine"), is_path("google-bert/bert-base-uncased")
    (True, True, False)
    """
    return name.startswith(("/", ".", "~")) or "\\" in name or name[1:3] == ":/" or ".." in name.split("/")


def resolve_folder(path: str, allowed: Sequence[Path]) -> Path:
    """The real folder meant by ``path``, which lies inside one of ``allowed``; raises Refusal otherwise.

    A path outside gives the same sentence whether or not something is there, and is not looked up at all. Links
    inside an allowed folder may not lead out of it.
    """
    if not allowed:
        raise UserError(_NONE_ALLOWED, way_out="embedded")
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
    if not os.path.isdir(real):  # unlike Path's, it takes a name that no disk would
        there = os.path.exists(real)
        what = gettext_lazy("a file, not a folder with config.json in it") if there else gettext_lazy("not there")
        raise UserError(
            gettext_lazy('"{name}" is {what}. Pick a folder that holds a model.', name=wanted.name, what=what),
            way_out="embedded",
        )
    inside = real if (real / "config.json").exists() else _last_checkpoint(real)
    return real if inside is None else inside


def _last_checkpoint(folder: Path) -> Path | None:
    """Return the folder ``checkpoint-N`` of the most steps N with a configuration, as trainers write them."""
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
    """Return the name of a model folder; for a trainer's checkpoint it contains the name of the run.

    >>> folder_title(Path("/models/run/checkpoint-500")), folder_title(Path("/models/mine"))
    ('run/checkpoint-500', 'mine')
    """
    return f"{folder.parent.name}/{folder.name}" if CHECKPOINT.fullmatch(folder.name) else folder.name


def iterate_folders(allowed: Sequence[Path]) -> Iterator[Path]:
    """Folders with a config.json inside the allowed ones, two levels deep, in order of name."""
    for root in allowed:
        for pattern in ("config.json", "*/config.json", "*/*/config.json"):
            try:
                found = sorted(root.glob(pattern))
            except OSError:
                continue  # a folder this process may not read holds no models for it
            yield from (file.parent for file in found)


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


def resolve_fine_tuned(name: str, settings: Settings) -> Path:
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
        return f"{(resolve_fine_tuned(name, settings) / SCORES).stat().st_mtime_ns:x}"
    except (UserError, OSError):
        return None


def fine_tuned_title(name: str, settings: Settings) -> str:
    """What its teacher called it: text from a visitor. Raises Refusal where it is gone."""
    try:
        with (folder(place_of(settings), name) / JOB).open("rb") as stream:
            found = json.loads(stream.read(MOST_BYTES))["title"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise UserError(GONE, way_out="embedded") from error
    return str(found)[:120] or name


@dataclass(frozen=True)
class ModelSource:
    """Where a model's files lie, its name, and the commit they are from, where they are from the hub."""

    name: str
    revision: str | None
    folder: Path


def find(name: str, revision: str | None, settings: Settings) -> ModelSource:
    """Where that model's files lie; raises Refusal.

    A name is a path only if it looks like one; any other is a hub id and never opens a folder of that name here. A
    hub model that is not downloaded yet is refused with ``way_out="download"`` and its offer, never fetched unasked.
    A hub model's source names the commit that its files are from, since branches move on.
    """
    if name == EMBEDDED:
        return ModelSource(name, None, embedded.folder())
    if name in embedded.OWN:
        return ModelSource(name, None, embedded.own_folder(name))
    if (extra := extras.find_extra(name)) is not None:
        return ModelSource(name, None, extra.folder(settings))
    if is_taught(name):  # its name is its link, which is given to nobody unasked
        return ModelSource(fine_tuned_title(name, settings), None, resolve_fine_tuned(name, settings))
    if is_path(name):
        folder = resolve_folder(name, settings.model_folders)
        return ModelSource(
            folder_title(folder), None, folder
        )  # a path says more about the machine than anyone needs to read
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
            "{name} is not on this machine yet. Downloading it takes {megabytes:,.0f} MB.",
            name=name,
            megabytes=offer.nbytes / 1e6,
        ),
        way_out="download",
        details={"model": name, "revision": revision, "bytes": offer.nbytes, "offer": offer},
    )


def is_local(name: str, revision: str | None, settings: Settings) -> bool:
    """Whether that model can be loaded without the network. Asks no network."""
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
