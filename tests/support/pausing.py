"""A training that is asked to stop, as a terminal or a machine that goes down would ask."""

from __future__ import annotations

import os
import signal

import pytest

from training import loop


def stopping(monkeypatch: pytest.MonkeyPatch, which: signal.Signals) -> list[int]:
    """Steps, to be filled in, before each of which the process sends that signal to itself, once."""
    at: list[int] = []
    plain = loop.step

    def step(run: loop.Run) -> None:
        if run.progress.step in at:
            at.remove(run.progress.step)
            os.kill(os.getpid(), which)
        plain(run)

    monkeypatch.setattr(loop, "step", step)
    return at
