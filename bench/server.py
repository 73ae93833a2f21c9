"""The app as a separate process on a free local port, and the peak memory of recording a text.

Recording is compared with requesting every map (`output_attentions=True`). Each variant runs in its own process. First
the model reads the text plainly, so that all permanent memory is allocated. Then it reads the text by the measured
variant, whose result is kept. The peak is the kernel's VmHWM, reset before the measured pass, minus the resident memory
before that pass. The peak of a plain SDPA pass, measured in the same way, is subtracted. Malloc settings return large
blocks to the system immediately, so that the peak contains only memory in use.
"""

from __future__ import annotations

import gc
import json
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
from statistics import median

import psutil

from bench.models import BERT_BASE, EMBEDDED, RECORDING, build, inputs
from bench.report import ReportRow, upper_limit_row

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
        """Return the peak memory of the app's process in bytes."""
        return status("VmHWM", self.process)

    def resident(self) -> int:
        """Return the resident memory of the app's process in bytes."""
        return status("VmRSS", self.process)


@contextmanager
def app(environment: Mapping[str, str] | None = None, module: str = "streamlit") -> Iterator[Server]:
    """Inside the block, run the app as a process; yield the server.

    ``module`` starts the app: "streamlit", or a module of bench. Raise RuntimeError if the app does not start.
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
    """Wait until the app reports that it is healthy; return False if it ends or takes over LONGEST_START seconds."""
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


MEMORY_LIMITS = {EMBEDDED: 1 / 3, BERT_BASE: 1 / 2}
MEMORY_TOKENS, MEMORY_REPEATS = 512, 3
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
WAYS = ("plain", "recording", "eager")


def measure_memory() -> Iterator[ReportRow]:
    """Yield a row per model: peak memory added by recording, relative to that of ``output_attentions``."""
    for name in (EMBEDDED, BERT_BASE):
        peaks: dict[str, list[float]] = {way: [] for way in WAYS}
        for _ in range(MEMORY_REPEATS):
            for way in WAYS:
                peaks[way].append(peak_apart(name, way))
        plain, recording, eager = (median(peaks[way]) for way in WAYS)
        added, asked = recording - plain, eager - plain
        figure = f"{max(added, 0) / asked:.3f} ({added:+.0f} MiB against {asked:+.0f} MiB)"
        note = (
            f"peak above the loaded model: plain {plain:.0f}, recording {recording:.0f}, eager {eager:.0f} MiB; "
            f"medians of {MEMORY_REPEATS} processes each"
        )
        what = f"peak memory added by recording / by output_attentions, {name}, {MEMORY_TOKENS} tokens"
        yield upper_limit_row(what, MEMORY_LIMITS[name], added / asked, figure, note)


def peak_apart(name: str, way: str) -> float:
    """Run ``peak`` in a new process and return its result in MiB; the parameters are those of ``peak``."""
    command = [sys.executable, "-m", "bench.server", name, way]
    done = subprocess.run(command, env={**os.environ, **MALLOC}, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1])["mib"])


def peak(name: str, way: str) -> float:
    """Return the peak memory of reading a text in this process, in MiB above the memory before.

    ``name`` is the name of the model, and ``way`` is "plain", "recording" or "eager".
    """
    import torch

    from inference.record.capture import record_parts

    model = build(name, {"plain": "sdpa", "recording": RECORDING, "eager": "eager"}[way])
    given = inputs(MEMORY_TOKENS)
    with torch.inference_mode():
        model(**given)
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # reset VmHWM
        before = status("VmRSS")
        if way == "recording":
            result = record_parts(model, given, [MEMORY_TOKENS])
        else:
            result = model(**given, output_attentions=way == "eager")
        highest = status("VmHWM") - before
        del result
    return highest / 2**20


def status(field: str, process: int | str = "self") -> int:
    """Return a memory field of a process's /proc status, such as VmRSS, in bytes.

    Raise KeyError if the kernel lacks it.
    """
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(f"This kernel tells no {field}.")


if __name__ == "__main__":
    print(json.dumps({"mib": peak(*sys.argv[1:])}))
