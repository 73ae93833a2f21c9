"""The models of optional packages, and a command that unpacks them in advance.

The packages are in requirements-writer.txt, requirements-chinese.txt and requirements-extra.txt.
"""

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
    """Return the extra of that name, or None."""
    return next((extra for extra in ALL if extra.name == name), None)


def main(names: Sequence[str]) -> int:
    """Unpack the named extras, or all; print an error for each that fails and return 1, else 0."""
    failed = 0
    for extra in [extra for extra in ALL if not names or extra.name in names]:
        print(f"Unpacking {extra.name} unless that is done; it takes up to a minute.", flush=True)
        try:
            extra.folder(Settings.from_env())
        except ValueError as refusal:  # UserError is a ValueError
            print(refusal, file=sys.stderr)
            failed = 1
    return failed
