"""The app as a process of its own, on a free port of this machine."""

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
    """A running app: its address, its process, and the seconds from the process's start until it answered."""

    url: str
    process: int
    answered: float
    started: float  # time.perf_counter() when the process was started

    def end(self) -> None:
        """Ends it at once, and what it has begun, whatever they are at."""
        server = psutil.Process(self.process)
        for process in (*server.children(recursive=True), server):
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def peak(self) -> int:
        """Bytes of memory that it held at most."""
        return status("VmHWM", self.process)

    def resident(self) -> int:
        """Bytes of memory that it holds."""
        return status("VmRSS", self.process)


@contextmanager
def app(environment: Mapping[str, str] | None = None, module: str = "streamlit") -> Iterator[Server]:
    """The app, answering; ended afterwards. ``module`` is what runs it: Streamlit, or bench.wrapped."""
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
    """Whether the app says that it is well, within LONGEST_START seconds."""
    end = time.perf_counter() + LONGEST_START
    while time.perf_counter() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.01)
    return False


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
