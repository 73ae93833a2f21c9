"""Failures in a Ray cluster of two nodes on this machine, during which no visitor may see an error.

Every answer is compared with the answer of a backend in this process.
"""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import psutil
import pytest

from attention.trace import Trace
from inference import LocalBackend, TraceRequest, UserError
from inference.settings import Settings
from serving.remote_backend import RemoteBackend
from tests.serving.nodes import replicas_of
from tests.support.repository import ROOT
from tests.support.running import free_port

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: requirements-cluster.txt"),
]
MEMORY = 1_000_000  # Bytes for traces, so few that replicas and visitors compute or request nearly everything again.
TEXTS = [f"the {animal} sat on {place}" for animal in ("cat", "dog", "old bear") for place in ("a mat", "stone", "it")]
VISITORS, ROUND = 6, 60  # The number of threads, and of answers to wait for before and after each failure.


class Visitors:
    """Threads that send requests without a pause and record the errors."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self.answers, self.longest = 0, 0.0
        self.errors: list[str] = []
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._here = LocalBackend(Settings(trace_memory_bytes=MEMORY))
        self._right = {text: self._here.trace(TraceRequest(text=text)) for text in TEXTS}
        settings = Settings(trace_memory_bytes=0)
        self._there = [RemoteBackend.from_url(address, "secret", settings) for address in addresses]
        self._threads = [
            threading.Thread(target=self._visit, args=(self._there[number % len(addresses)], number))
            for number in range(VISITORS)
        ]
        for thread in self._threads:
            thread.start()

    def more(self, many: int = ROUND) -> None:
        """Wait for ``many`` answers or for an error."""
        wanted = self.answers + many
        until(lambda: self.answers >= wanted or bool(self.errors) or self._ended.is_set())

    def end(self) -> None:
        """Stop the threads and close their connections."""
        self._ended.set()
        for thread in self._threads:
            thread.join()
        for there in self._there:
            there.close()

    def _visit(self, there: RemoteBackend, first: int) -> None:
        for text in itertools.islice(itertools.cycle(TEXTS), first, None):
            if self._ended.is_set():
                return
            began, error = time.monotonic(), ""
            try:
                same(there.computed([TraceRequest(text=text)])[0], self._right[text])
            except (UserError, AssertionError) as found:
                error = f"{text}: {found}"
            with self._lock:
                self.answers, self.longest = self.answers + 1, max(self.longest, time.monotonic() - began)
                self.errors += [error] if error else []


def same(found: Trace, right: Trace) -> None:
    """Assert that two traces are equal.

    Attention weights may differ by 1e-5, because the rounding depends on the batch.
    """
    assert (found.id, found.model, found.text, found.tokens) == (right.id, right.model, right.text, right.tokens)
    for one, other in zip(found.records(), right.records(), strict=True):
        for head in range(other.heads):
            np.testing.assert_allclose(one.weights(head), other.weights(head), atol=1e-5)


class Child:
    """A server process that takes commands and confirms each when it is done."""

    def __init__(self, module: str, *options: str, log: Path) -> None:
        environment = {**os.environ, "HEADLIGHT_BACKEND_TOKEN": "secret", "HEADLIGHT_TRACE_MEMORY": str(MEMORY)}
        self._log = log
        with log.open("a") as written:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, *options],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=written,
                text=True,
            )

    def says(self, word: str) -> None:
        """Wait until the process prints a line that contains ``word``."""
        assert self._process.stdout is not None
        assert any(word in line for line in self._process.stdout), self._log.read_text()

    def does(self, what: str) -> None:
        """Send a command and wait until it is done."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        self.says("done")

    def replicas(self) -> list[psutil.Process]:
        """Return the processes with models."""
        return replicas_of(psutil.Process(self._process.pid))

    def kill(self) -> None:
        """Kill the process and all its children."""
        whole = [psutil.Process(self._process.pid), *psutil.Process(self._process.pid).children(recursive=True)]
        for process in whole:
            process.kill()
        self._process.communicate()


def until(true: Callable[[], bool]) -> None:
    """Wait for a condition, without a time limit; the clients' time limits end a failed test."""
    while not true():
        time.sleep(0.05)


@contextmanager
def visited(*addresses: str) -> Iterator[Visitors]:
    """Run visitors around the block, with answers before and after it; fail if any visitor sees an error."""
    visitors = Visitors(addresses)
    try:
        visitors.more()
        yield visitors
        visitors.more()
    finally:
        visitors.end()
    print(f"{visitors.answers} answers, longest {visitors.longest:.1f} s")
    assert visitors.errors == []


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Child, str, str]]:
    """Yield a cluster of two nodes and the address of each node."""
    ports = [free_port(), free_port()]
    child = Child("tests.serving.nodes", *map(str, ports), log=tmp_path_factory.mktemp("nodes") / "log")
    try:
        child.says("done")
        yield child, f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}"
    finally:
        child.kill()


@pytest.mark.parametrize("what", ["update", "head", "hang", "lose", "silence"])
def test_nobody_reads_an_error(nodes: tuple[Child, str, str], what: str) -> None:
    child, first, second = nodes
    lost = what in ("lose", "silence")
    with visited(first) if lost else visited(first, second) as visitors:
        before = visitors.answers
        began = time.monotonic()
        child.does(what)
        print(f"{what}: whole again after {time.monotonic() - began:.1f} s, {visitors.answers - before} answers")
    if lost:
        child.does("join")
        child.does("update")  # The update places a replica on each node again.


def test_nobody_reads_an_error_where_all_is_lost_and_started_again(tmp_path: Path) -> None:
    port = free_port()
    options = ("--port", str(port), "--replicas", "1")
    first = Child("serving.cluster", *options, log=tmp_path / "log")
    second = None
    try:
        first.says("HEADLIGHT_BACKEND=")
        with visited(f"http://127.0.0.1:{port}") as visitors:
            first.kill()
            second = Child("serving.cluster", *options, log=tmp_path / "log")
            second.says("HEADLIGHT_BACKEND=")
            visitors.more()
    finally:
        (second or first).kill()


@pytest.mark.parametrize("how", [psutil.Process.kill, psutil.Process.suspend])
def test_nobody_reads_an_error_where_one_machine_loses_a_replica(
    how: Callable[[psutil.Process], None], tmp_path: Path
) -> None:
    port = free_port()
    child = Child("serving.cluster", "--port", str(port), "--replicas", "2", "--least", "2", log=tmp_path / "log")
    try:
        child.says("HEADLIGHT_BACKEND=")
        with visited(f"http://127.0.0.1:{port}") as visitors:
            lost = child.replicas()[0]
            before, began = visitors.answers, time.monotonic()
            how(lost)
            until(lambda: not lost.is_running() and len(child.replicas()) == 2)
            print(f"whole again after {time.monotonic() - began:.1f} s, {visitors.answers - before} answers")
    finally:
        child.kill()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """Run a Redis that writes nothing to the disk; yield its address."""
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        until(lambda: _answers(port))
        yield f"127.0.0.1:{port}"
        server.terminate()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="No Redis is installed")
def test_nobody_reads_an_error_where_a_redis_keeps_what_the_head_knows(redis: str, tmp_path: Path) -> None:
    ports = [free_port(), free_port()]
    child = Child("tests.serving.nodes", *map(str, ports), redis, log=tmp_path / "log")
    try:
        child.says("done")
        with visited(*(f"http://127.0.0.1:{port}" for port in ports)) as visitors:
            before, began = visitors.answers, time.monotonic()
            child.does("head")
            print(f"whole again after {time.monotonic() - began:.1f} s, {visitors.answers - before} answers")
    finally:
        child.kill()
