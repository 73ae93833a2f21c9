"""Local models: only inside the folders that the operator allows, and without a word about anything outside them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from i18n import gettext_lazy
from inference.errors import UserError

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


def resolve(path: str, allowed: Sequence[Path]) -> Path:
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


def title(folder: Path) -> str:
    """Return the name of a model folder; for a trainer's checkpoint it contains the name of the run.

    >>> title(Path("/models/run/checkpoint-500")), title(Path("/models/mine"))
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
