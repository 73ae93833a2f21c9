"""Coverage-guided fuzzing: inputs that reach new lines of the project are kept and mutated further.

This module needs atheris, which no other module needs: .venv/bin/python -m pip install atheris. Atheris generates
bytes, and hypothesis parses them as inputs of a target. Empty input is the valid example.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import atheris
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

OURS = ("attention", "classroom", "headlight", "inference", "lessons", "probing", "serving", "ui", "viz", "i18n")

with atheris.instrument_imports(include=list(OURS)):
    import tests.fuzz.doors


def ask(inputs: SearchStrategy[Any], knock: Callable[[object], None]) -> None:
    """Fuzz without end; ``knock`` ends the process."""
    assert tests.fuzz.doors.DOORS

    @settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(inputs)
    def asked(given: object) -> None:
        knock(given)

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # Atheris prints a line for each input that it keeps.
    one: Any = asked  # The attributes that hypothesis adds have no annotations.
    found = tempfile.mkdtemp(prefix="headlight-fuzz-")
    told = ["-verbosity=1", "-len_control=0", "-max_len=4096", "-rss_limit_mb=0", f"-artifact_prefix={found}/"]
    atheris.Setup(["guided", *told], one.hypothesis.fuzz_one_input)
    atheris.Fuzz()
