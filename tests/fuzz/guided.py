"""Inputs that reach lines of ours which none had reached before are kept, and harmed further.

Needs atheris, which is asked for nowhere else: .venv/bin/python -m pip install atheris. It makes up bytes, hypothesis
reads them as a door's inputs; no bytes at all are the valid example.
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
    """Without end: ``knock`` ends the process."""
    assert tests.fuzz.doors.DOORS

    @settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(inputs)
    def asked(given: object) -> None:
        knock(given)

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # it tells of each input that it keeps
    one: Any = asked  # what hypothesis adds is in no annotation
    found = tempfile.mkdtemp(prefix="headlight-fuzz-")
    told = ["-verbosity=1", "-len_control=0", "-max_len=4096", "-rss_limit_mb=0", f"-artifact_prefix={found}/"]
    atheris.Setup(["guided", *told], one.hypothesis.fuzz_one_input)
    atheris.Fuzz()
