"""Tests of the service on Ray Serve: its errors without Ray, and its answers with Ray."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path

import psutil
import pytest
import yaml  # type: ignore[import-untyped]

from inference import TraceRequest, UserError
from inference.settings import Settings
from serving import cluster
from serving.protocol import TOKEN
from serving.remote_backend import STRANGER, RemoteBackend
from tests.serving.nodes import name_of
from tests.support.repository import ROOT
from tests.support.running import free_port


def test_another_address_needs_a_token(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv(TOKEN, raising=False)
    monkeypatch.setattr(sys, "argv", ["serve", "--host", "0.0.0.0"])
    assert cluster.main() == 2
    assert TOKEN in capsys.readouterr().err


@pytest.mark.slow
def test_the_app_never_imports_ray() -> None:
    probe = "import sys, serving.cluster, ui.run.services; print('ray' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, check=True, capture_output=True, text=True)
    assert answer.stdout.strip() == "False"


@pytest.mark.parametrize("file", ["machines.yaml", "kuberay.yaml"])
def test_the_clusters_files_start_what_is_here(file: str) -> None:
    first = next(iter(yaml.safe_load_all((ROOT / "docs" / "cluster" / file).read_text(encoding="utf-8"))))
    config = yaml.safe_load(first["spec"]["serveConfigV2"]) if "spec" in first else first
    (app,) = config["applications"]
    module, name = app["import_path"].split(":")
    assert (module, getattr(cluster, name)) == (cluster.__name__, cluster.application)
    assert set(app["args"]) == {"least", "replicas", "cpus", "version"}


@pytest.mark.parametrize("file", ["machines.yaml", "kuberay.yaml"])
def test_the_clusters_files_set_when_a_node_is_lost_as_one_machine_does(file: str) -> None:
    told = (ROOT / "docs" / "cluster" / file).read_text(encoding="utf-8")
    for name, value in cluster.ENVIRONMENT.items():
        if "health_check" in name or "UNHEALTHY" in name:
            assert f"{name}={value}" in told or f'{{name: {name}, value: "{value}"}}' in told


def open_everywhere(server: int) -> set[str]:
    """Return the names of a server's processes that listen beyond the loopback interface."""
    ours = {process.pid: process for process in psutil.Process(server).children(recursive=True)}
    return {
        name_of(ours[port.pid]).partition(":headlight")[0]
        for port in psutil.net_connections("tcp")
        if port.pid in ours and port.status == psutil.CONN_LISTEN and port.laddr
        if not ip_address(port.laddr.ip.removeprefix("::ffff:")).is_loopback
    }


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: requirements-cluster.txt")
def test_ray_serve_answers_as_a_backend(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "serving.cluster", "--port", str(port), "--replicas", "1"]
    environment = {**os.environ, TOKEN: "secret"}
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert server.stdout is not None
        assert any("HEADLIGHT_BACKEND=" in line for line in server.stdout), (tmp_path / "log").read_text()
        there = RemoteBackend.from_url(f"http://127.0.0.1:{port}", "secret", Settings())
        assert there.trace(TraceRequest(text="a cat")).tokens == ("[CLS]", "a", "cat", "[SEP]")
        with pytest.raises(UserError, match="is empty"):
            there.trace(TraceRequest(text=" "))
        there.close()
        stranger = RemoteBackend.from_url(f"http://127.0.0.1:{port}", "wrong", Settings())
        with pytest.raises(UserError, match=re.escape(STRANGER)):
            stranger.trace(TraceRequest(text="a cat"))
        stranger.close()
        assert open_everywhere(server.pid) <= {"ray::ServeReplica"}
    finally:
        server.terminate()
        server.communicate(timeout=120)
