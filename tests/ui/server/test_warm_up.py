"""Messages at the start of the app, and starts that are refused."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path

import psutil
import pytest

from inference.settings import Settings
from tests.support.repository import ROOT
from tests.support.running import free_port, started_by
from ui.run import network
from ui.run.idle_collection import SCRIPTS
from ui.run.services import get_backend
from ui.server import warm_up


@pytest.fixture
def httptools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate an installed httptools."""
    monkeypatch.setattr(warm_up, "find_spec", lambda name: ModuleSpec(name, None))


def settings(monkeypatch: pytest.MonkeyPatch, whom: str) -> None:
    here, asked = get_backend(), Settings.from_env({"HEADLIGHT_FOR": whom})
    monkeypatch.setattr(here, "settings", replace(here.settings, strangers=asked.strangers, only_here=asked.only_here))


def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], address: str, whom: str) -> str:
    """Return the output at the start of a server at this address."""
    options = {"server.address": address, "server.port": 8501, "server.baseUrlPath": ""}
    monkeypatch.setattr("streamlit.get_option", options.get)
    monkeypatch.setattr(network, "machine_addresses", lambda: ("192.0.2.7", "192.0.2.8"))
    settings(monkeypatch, whom)
    warm_up.announce()
    return capsys.readouterr().out


@pytest.mark.usefixtures("httptools")
@pytest.mark.parametrize("whom", ["class", "public"])
def test_where_strangers_are_expected_it_does_not_start_with_heads_that_have_no_end(
    whom: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(monkeypatch, whom)
    with pytest.raises(ValueError, match="uninstall httptools"):
        warm_up.announce()


@pytest.mark.usefixtures("httptools")
@pytest.mark.parametrize("whom", ["laptop", ""])
def test_elsewhere_it_says_so_and_starts(
    whom: str, monkeypatch: pytest.MonkeyPatch, logged: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    settings(monkeypatch, whom)
    warm_up.announce()
    assert "http://localhost:" in capsys.readouterr().out
    assert any("pip uninstall httptools" in line for line in logged)


@pytest.mark.parametrize("whom", ["", "class", "public"])
def test_an_open_server_prints_every_address(
    whom: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = printed(monkeypatch, capsys, "0.0.0.0", whom)
    assert "http://localhost:8501/" in said
    assert "http://192.0.2.7:8501/" in said
    assert "http://192.0.2.8:8501/" in said
    assert warm_up.ONLY_THIS_MACHINE not in said


@pytest.mark.parametrize(("address", "whom"), [("127.0.0.1", ""), ("127.0.0.1", "laptop"), ("0.0.0.0", "laptop")])
def test_a_server_for_this_machine_prints_no_other_address(
    address: str, whom: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = printed(monkeypatch, capsys, address, whom)
    assert "http://localhost:8501/" in said
    assert "192.0.2." not in said


@pytest.mark.parametrize("whom", ["class", "public"])
def test_a_server_that_its_visitors_cannot_reach_says_so(
    whom: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "make run FOR=class" in printed(monkeypatch, capsys, "127.0.0.1", whom)


@pytest.mark.parametrize(("load", "cores", "factor"), [(0.5, 2, 1), (6, 2, 3), (6, None, 6), (90, 2, 10)])
def test_a_busy_machine_lengthens_the_waits_before_the_imports(
    load: float, cores: int | None, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(psutil, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(psutil, "cpu_count", lambda: cores)
    monkeypatch.setattr(time, "sleep", waited.append)
    monkeypatch.setattr(SCRIPTS, "wait_for_rest", waited.append)
    monkeypatch.setattr(warm_up, "get_backend", lambda: pytest.fail("It waits before it loads a model."))
    with pytest.raises(pytest.fail.Exception, match="It waits"):
        warm_up.warm_up()
    assert waited == [factor * warm_up.HEAD_START, factor * warm_up.DRAWING]


STREAMLIT = ("-m", "streamlit", "run", "app.py", "--server.port")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "environ", "listens"),
    [
        (STREAMLIT, {}, "127.0.0.1"),
        (STREAMLIT, {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0"}, "0.0.0.0"),  # The Dockerfile sets this variable.
        (("-m", "headlight", "serve", "--port"), {}, "0.0.0.0"),
        (("-m", "headlight", "serve", "--address", "127.0.0.1", "--port"), {}, "127.0.0.1"),
        (("-m", "headlight", "--no-browser", "--port"), {}, "127.0.0.1"),
    ],
)
def test_a_start_listens_where_it_should(
    words: Sequence[str], environ: dict[str, str], listens: str, tmp_path: Path
) -> None:
    port = free_port()
    with started_by([sys.executable, *words, str(port)], tmp_path / "log", ROOT, port, environ=environ) as app:
        family = [psutil.Process(app.process.pid), *psutil.Process(app.process.pid).children(recursive=True)]
        open_at = {
            one.laddr.ip
            for process in family
            for one in process.net_connections("tcp")
            if one.status == psutil.CONN_LISTEN and one.laddr.port == port
        }
    assert open_at == {listens}
