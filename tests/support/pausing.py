"""Signals that stop a training run, as a terminal or a shutdown would send them."""

from __future__ import annotations

import os
import signal

import pytest

from training import loop


def stopping(monkeypatch: pytest.MonkeyPatch, which: signal.Signals) -> list[int]:
    """Return an empty list for steps; before each step in it the process sends itself the signal once."""
    at: list[int] = []
    plain = loop.step

    def step(run: loop.Run) -> None:
        if run.progress.step in at:
            at.remove(run.progress.step)
            os.kill(os.getpid(), which)
        plain(run)

    monkeypatch.setattr(loop, "step", step)
    return at
