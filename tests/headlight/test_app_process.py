"""Tests of the app as a child process: its port, its address, and its end with the parent's end."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.request
import webbrowser
from pathlib import Path

import pytest

from headlight import app_process
from headlight.app_process import ServeError, address, port_for
from tests.support.repository import ROOT


def test_an_address_opens_the_app_at_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    assert address(9, "a&b=c #1", "o/m", "第二句") == (
        "http://localhost:9/?text=a%26b%3Dc+%231&pair=%E7%AC%AC%E4%BA%8C%E5%8F%A5&model=o%2Fm"
    )
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", "/tools/")
    assert address(9) == "http://localhost:9/tools/"
    with pytest.raises(ServeError, match="an address"):
        address(9, "word " * 5000)


def test_a_port_that_is_taken_is_refused_or_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as other:
        other.bind(("", 0))
        other.listen()
        taken = other.getsockname()[1]
        with pytest.raises(ServeError, match=f"Port {taken} cannot be used"):
            port_for(taken)
    monkeypatch.setattr(app_process, "free", lambda port: port > app_process.FIRST + 1)
    assert port_for(None) == app_process.FIRST + 2
    monkeypatch.setattr(app_process, "free", lambda _port: False)
    with pytest.raises(ServeError, match="all taken"):
        port_for(None)
    with pytest.raises(ServeError, match="99999"):
        port_for(99999)


def test_without_streamlit_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_process, "find_spec", lambda _name: None)
    with pytest.raises(ServeError, match=r"attention\[app\]"):
        app_process.command(1, None)


def test_what_is_started_is_the_launcher() -> None:
    (python, *words) = app_process.command(8600, "localhost")
    assert python == sys.executable
    assert words == [
        "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.port", "8600", "--server.address", "localhost",
    ]  # fmt: skip


def test_without_a_host_the_whole_network_is_named() -> None:
    assert app_process.command(8600, None)[-2:] == ["--server.address", "0.0.0.0"]


@pytest.mark.parametrize("host", ["a" * 70, "192.0.2.1"])
def test_a_foreign_host_is_refused(host: str) -> None:
    with pytest.raises(app_process.ServeError, match=host):
        app_process.refuse_foreign(host)
    for ours in ("localhost", "127.0.0.1", "0.0.0.0"):
        app_process.refuse_foreign(ours)


def test_no_browser_without_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def browse(place: str) -> bool:
        opened.append(place)
        return True

    monkeypatch.setattr(webbrowser, "open", browse)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert not app_process.show("http://localhost:1/")
    monkeypatch.setenv("DISPLAY", ":0")
    assert app_process.show("http://localhost:1/")
    assert opened == ["http://localhost:1/"]


@pytest.mark.slow
def test_the_app_answers_and_ends_with_its_command(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "-m", "headlight", "A cat.", "--no-browser", "--json", "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        assert f'"http://localhost:{port}/?text=A+cat."' in told, (tmp_path / "log").read_text()
        with urllib.request.urlopen(f"http://localhost:{port}/healthz/live") as answer:
            assert answer.status == 200
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60)[0] == ""
    assert process.returncode in (0, 128 + signal.SIGTERM)
    assert app_process.free(port)
