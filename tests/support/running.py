"""The app, or a script of the tests, in a separate process, and a check of its log."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.atrest import PATIENCE
from tests.support.repository import ROOT

# The shell mounts these components on every page: the idle tracker, and the rerun after a change of theme.
LIKE_THE_SHELL = """from viz.components.page_scripts import track_idle, watch_theme

track_idle()
watch_theme()"""
# The app is started with the same options: Streamlit watches none of torch's thousands of modules and runs no garbage
# collection after each run.
AT_EASE = ("--server.fileWatcherType=none", "--runner.postScriptGC=false")


@dataclass(frozen=True)
class App:
    """A running app: its address, its log and its process."""

    url: str
    log: Path
    process: subprocess.Popen[bytes]
    models: Path = Path()  # Models may be opened from this folder, if there is any.


def free_port() -> int:
    """Return a free port of the loopback interface."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(  # noqa: PLR0913  (an app can be started in many ways)
    log: Path,
    main: str = "app.py",
    folder: Path = ROOT,
    options: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
    base: str = "",
    port: int | None = None,
) -> Iterator[App]:
    """Run the app until the block ends; yield it when it answers.

    ``log`` receives its output. ``base`` is the path below which it is served, such as "/some/path". ``port`` is a
    free port by default.
    """
    port = free_port() if port is None else port
    command = [sys.executable, "-m", "streamlit", "run", main, f"--server.port={port}", "--server.address=127.0.0.1"]
    command += [*options, *([f"--server.baseUrlPath={base}"] if base else [])]
    with started_by(command, log, folder, port, environ, base) as started:
        yield started


@contextmanager
def started_by(  # noqa: PLR0913  (the same)
    command: Sequence[str],
    log: Path,
    folder: Path,
    port: int,
    environ: Mapping[str, str] | None = None,
    base: str = "",
) -> Iterator[App]:
    """Run an app by a command until the block ends; yield it when it answers at ``port``."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **(environ or {})}
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True
        )
    started = App(f"http://127.0.0.1:{port}{base}", log, process)
    try:
        _until_healthy(started)
        yield started
    finally:
        _end(process)


@contextmanager
def one_script(folder: Path, script: str, **environ: str) -> Iterator[App]:
    """Run an app of a single script, which may import the project's packages.

    The page reports when it is at rest and follows the theme, as the app's pages do.
    """
    (folder / "main.py").write_text(f"{LIKE_THE_SHELL}\n{script}", encoding="utf-8")
    search = os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]])
    with running(folder / "log", "main.py", folder, AT_EASE, {"PYTHONPATH": search, **environ}) as started:
        yield started


def _until_healthy(started: App) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline and started.process.poll() is None:
        try:
            with urllib.request.urlopen(f"{started.url}/_stcore/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)  # The server does not listen yet.
    raise RuntimeError(f"The app did not answer within {PATIENCE // 1000} s; it printed:\n{started.log.read_text()}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
        process.wait()


# If a page is closed while its connection is being made, Streamlit fails to answer and logs the error, which is
# harmless.
GONE = re.compile(
    r"Exception in ASGI application\n(?:(?!Exception in ASGI application).)*?"
    r"WebSocketDisconnected: Cannot call \"send\" once a close message has been sent\.\n?",
    re.DOTALL,
)


def faults(log: str) -> list[str]:
    """Return the lines of a server's log that contain tracebacks or attempts to reach another machine.

    >>> faults("  Headlight is at  http://localhost:8501")
    []
    """
    marks = ("Traceback (most recent call last)", "the tests stay on this machine")
    plain = GONE.sub("", re.sub(r"\x1b\[[0-9;]*m", "", log))  # Remove the escape sequences of colours.
    return [line for line in plain.splitlines() if any(mark in line for mark in marks)]
