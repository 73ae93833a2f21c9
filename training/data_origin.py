"""What a text was made of, said beside it: a run goes on with that text, or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inference.errors import UserError


def check_origin(stated: Mapping[str, Any], wanted: Mapping[str, Any], folder: Path) -> None:
    """Raises Refusal where what is there was made of something else than is wanted now.

    What is not stated is not compared: folders from before this was written down still open.

    >>> check_origin({"held_out": 0.02, "pieces": 9}, {"held_out": 0.02, "vocabulary": 8000}, Path("run"))
    >>> check_origin({"held_out": 0.02}, {"held_out": 0.1}, Path("run"))
    Traceback (most recent call last):
    inference.errors.UserError: What is in run was made with held_out = 0.02, not 0.1. Set it back, or name another run.
    """
    for name, value in wanted.items():
        if (before := stated.get(name, value)) != value:
            raise UserError(
                f"What is in {folder} was made with {name} = {json.dumps(before, ensure_ascii=False)}, not"
                f" {json.dumps(value, ensure_ascii=False)}. Set it back, or name another run."
            )
