"""What the app says of itself as it starts, and when it does not start at all."""

from __future__ import annotations

from dataclasses import replace
from importlib.machinery import ModuleSpec

import pytest

from inference.settings import Settings
from ui.run.shelf import backend
from ui.server import start


@pytest.fixture
def httptools(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if it were installed."""
    monkeypatch.setattr(start, "find_spec", lambda name: ModuleSpec(name, None))


def settings(monkeypatch: pytest.MonkeyPatch, whom: str) -> None:
    here = backend()
    monkeypatch.setattr(
        here, "settings", replace(here.settings, strangers=Settings.from_env({"HEADLIGHT_FOR": whom}).strangers)
    )


@pytest.mark.usefixtures("httptools")
@pytest.mark.parametrize("whom", ["class", "public"])
def test_where_strangers_are_expected_it_does_not_start_with_heads_that_have_no_end(
    whom: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(monkeypatch, whom)
    with pytest.raises(ValueError, match="pip uninstall httptools"):
        start.announce()


@pytest.mark.usefixtures("httptools")
@pytest.mark.parametrize("whom", ["laptop", ""])
def test_elsewhere_it_says_so_and_starts(
    whom: str, monkeypatch: pytest.MonkeyPatch, logged: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    settings(monkeypatch, whom)
    start.announce()
    assert "http://localhost:" in capsys.readouterr().out
    assert any("pip uninstall httptools" in line for line in logged)
