"""No connection leaves the machine: the guard works, and the app answers without a network."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import httpx2
import loopback
import pytest
import requests

from tests.support.repository import ROOT
from tests.support.running import faults

ELSEWHERE = "198.51.100.7"  # No machine has this address, which is reserved for documentation (RFC 5737).


async def _async_connect() -> None:
    await asyncio.open_connection(ELSEWHERE, 80)


def _datagram() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"x", (ELSEWHERE, 53))


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param(lambda: socket.create_connection((ELSEWHERE, 80)), id="connect"),
        pytest.param(lambda: socket.getaddrinfo("example.org", 443), id="look up"),
        pytest.param(lambda: socket.gethostbyname("example.org"), id="look up as of old"),
        pytest.param(_datagram, id="datagram"),
        pytest.param(lambda: asyncio.run(_async_connect()), id="asyncio"),
        pytest.param(lambda: urllib.request.urlopen("https://example.org"), id="urllib"),
        pytest.param(lambda: requests.get("https://example.org", timeout=5), id="requests"),
        pytest.param(lambda: httpx2.get("https://example.org"), id="httpx2"),
    ],
)
def test_another_machine_cannot_be_reached(attempt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with pytest.raises(Exception, match="tests stay"):
        attempt()
    assert loopback.refused
    loopback.refused.clear()


def test_a_swallowed_refusal_still_counts() -> None:
    with pytest.raises(loopback.LeavesTheMachine):
        socket.create_connection(("10.0.0.1", 80))
    assert len(loopback.refused) == 1  # The guard's fixture fails a test for this entry.
    loopback.refused.clear()


def test_the_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            socket.create_connection((host, port)).close()
    assert loopback.refused == []


def test_processes_that_tests_start_are_guarded_too() -> None:
    attempt = f"import socket; socket.create_connection(('{ELSEWHERE}', 80))"
    answer = subprocess.run([sys.executable, "-c", attempt], check=False, capture_output=True, text=True)
    assert answer.returncode == 1
    assert "LeavesTheMachine" in answer.stderr
    assert faults(answer.stderr)


def test_the_tests_keep_to_themselves() -> None:
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert "headlight-tests-" in os.environ["HF_HOME"]


def _cut_off() -> list[str]:
    """Return a command prefix that runs a program without a network, or [] if the system forbids it."""
    for command in (["unshare", "--net"], ["unshare", "--net", "--map-root-user"]):
        if (
            shutil.which("unshare")
            and subprocess.run([*command, "true"], check=False, capture_output=True).returncode == 0
        ):
            return command
    return []


@pytest.mark.slow
def test_the_app_answers_without_a_network(tmp_path: Path) -> None:
    cut_off = _cut_off()
    command = [*cut_off, sys.executable, "-m", "tests.offline.alone", str(tmp_path)]
    flags = ["--raise-loopback"] if cut_off else []
    answer = subprocess.run([*command, *flags], cwd=ROOT, check=False, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    said = json.loads(answer.stdout)
    assert said["way_out"] is False
    layers, heads, keys = said["shape"]
    assert layers > 1
    assert heads > 1
    assert keys > 5
    assert said["least"] == pytest.approx(1, abs=0.01)
    assert said["most"] == pytest.approx(1, abs=0.01)
    assert faults(said["log"]) == []
