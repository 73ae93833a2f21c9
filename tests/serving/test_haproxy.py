"""HAProxy on a single machine opens only the port for requests, and ends with the process that started it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from serving import haproxy

# A shortened configuration of Ray Serve 2.60.
CONFIG = """global
    log 127.0.0.1:514 local0 info
    stats socket /place/socket mode 666 level admin expose-fd listeners
defaults
    option httplog
    log global
    balance leastconn
frontend prometheus
    bind :9101
    no log
frontend http_frontend
    bind 127.0.0.1:8765
    log global
    http-request set-log-level debug if healthcheck
backend http-headlight
    server one 127.0.0.1:30000 check
listen stats
  bind *:8404
  stats enable
"""


def binds(config: str) -> list[str]:
    return [line.split()[1] for line in config.splitlines() if line.split()[:1] == ["bind"]]


def test_only_questions_come_in_from_elsewhere() -> None:
    assert binds(haproxy.restrict_config(CONFIG, "0.0.0.0")) == ["127.0.0.1:9101", "0.0.0.0:8765", "127.0.0.1:8404"]
    assert binds(haproxy.restrict_config(CONFIG, "127.0.0.1")) == ["127.0.0.1:9101", "127.0.0.1:8765", "127.0.0.1:8404"]


def test_nothing_is_logged_and_all_else_stays() -> None:
    before, after = CONFIG.splitlines(), haproxy.restrict_config(CONFIG, "127.0.0.1").splitlines()
    gone = [line.strip() for line in before if line not in after and "bind" not in line]
    assert gone == ["log 127.0.0.1:514 local0 info", "log global", "log global"]
    assert [line for line in before if line in after] == [line for line in after if line in before]


def test_what_was_closed_stays_closed() -> None:
    once = haproxy.restrict_config(CONFIG, "10.0.0.1")
    assert haproxy.restrict_config(once, "10.0.0.1") == once


def started(place: Path, body: str) -> list[str]:
    """Return the command that starts a test program in place of HAProxy."""
    program, config = place / "program", place / "config"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o700)
    config.write_text(CONFIG)
    asked = ["-db", "-f", str(config), "-sf", "1"]
    return [sys.executable, "-I", "-S", haproxy.__file__, "127.0.0.1", str(program), *asked]


def test_it_becomes_haproxy_which_reads_what_is_closed(tmp_path: Path) -> None:
    told = subprocess.run(started(tmp_path, 'echo "$@"; cat "$3"'), check=True, capture_output=True, text=True)
    options, _, config = told.stdout.partition("\n")
    assert options == f"-db -f {tmp_path / 'config'} -sf 1"
    assert config.rstrip() == haproxy.restrict_config(CONFIG, "127.0.0.1").rstrip()


@pytest.mark.skipif(sys.platform != "linux", reason="Ray's HAProxy is for Linux")
def test_it_ends_with_who_started_it(tmp_path: Path) -> None:
    command = started(tmp_path, "echo $$\nexec sleep 600")
    start = f"import subprocess; subprocess.run({command!r})"
    with subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.PIPE, text=True) as manager:
        assert manager.stdout is not None
        proxy = psutil.Process(int(manager.stdout.readline()))
        manager.kill()
        psutil.wait_procs([proxy], timeout=60)
        assert not proxy.is_running() or proxy.status() == psutil.STATUS_ZOMBIE


def test_rays_own_proxy_may_be_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(haproxy.WANTED, "0")
    assert haproxy.environment(tmp_path, "127.0.0.1", "model") == {haproxy.WANTED: "0"}


def test_a_machine_without_one_does_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haproxy, "find_spec", lambda _name: None)
    assert haproxy.environment(tmp_path, "127.0.0.1", "model") == {haproxy.WANTED: "0"}


def test_a_folder_whose_files_may_not_be_run_does_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haproxy, "_binary", lambda: "/haproxy")
    monkeypatch.setattr("serving.haproxy.os.access", lambda *_: False)
    assert haproxy.environment(tmp_path, "127.0.0.1", "model") == {haproxy.WANTED: "0"}


def test_what_ray_serve_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haproxy, "_binary", lambda: "/a folder/haproxy")
    told = haproxy.environment(tmp_path, "10.0.0.1", "which_model")
    start = Path(told["RAY_SERVE_HAPROXY_BINARY_PATH"])
    assert start.read_text().endswith("10.0.0.1 '/a folder/haproxy' \"$@\"\n")
    assert os.access(start, os.X_OK)
    assert told["RAY_SERVE_HAPROXY_BALANCE_ALGORITHM"].splitlines()[0] == "hdr(which_model)"
    assert all(value.startswith(str(tmp_path)) for name, value in told.items() if "SOCKET" in name or "STATE" in name)
    assert len({value for name, value in told.items() if name.endswith("_PORT")}) == 3
