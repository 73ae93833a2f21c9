"""The app as a separate process on a free local port."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.memory import status

ROOT = Path(__file__).resolve().parents[1]
LONGEST_START = 120.0  # seconds


@dataclass(frozen=True)
class Server:
    """A running app: its address, its process id, and the seconds from its start to its first response."""

    url: str
    process: int
    answered: float
    started: float  # time.perf_counter() at the start of the process

    def end(self) -> None:
        """Kill the process and all its child processes."""
        server = psutil.Process(self.process)
        for process in (*server.children(recursive=True), server):
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def peak(self) -> int:
        """Return the peak memory in bytes."""
        return status("VmHWM", self.process)

    def resident(self) -> int:
        """Return the resident memory in bytes."""
        return status("VmRSS", self.process)


@contextmanager
def app(environment: Mapping[str, str] | None = None, module: str = "streamlit") -> Iterator[Server]:
    """Run the app inside the block; ``module`` runs it: streamlit, or a module of bench.

    Raise RuntimeError if the app does not start.
    """
    port = free_port()
    command = [sys.executable, "-m", module, "run", str(ROOT / "app.py"), "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1"]
    with tempfile.TemporaryFile() as log:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, "HF_HUB_OFFLINE": "1", **(environment or {})}, stdout=log, stderr=log
        )
        try:
            url = f"http://127.0.0.1:{port}"
            if not answers(url, process):
                log.seek(0)
                raise RuntimeError(f"The app did not start: {log.read()[-500:].decode(errors='replace')}")
            yield Server(url, process.pid, time.perf_counter() - started, started)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def answers(url: str, process: subprocess.Popen[bytes]) -> bool:
    """Return True if the app reports that it is healthy within LONGEST_START seconds."""
    end = time.perf_counter() + LONGEST_START
    while time.perf_counter() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/healthz/live", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.01)
    return False


def free_port() -> int:
    """Return a free local port."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
