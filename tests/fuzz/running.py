"""`make fuzz N=1000000`: so many inputs over all doors, door by door, each door in a process of its own.

What a process does to itself (an abort, a hang, memory without end) ends that process alone, and the input that did it
is in tests/out/fuzz/, as Python writes it; what was only raised is there as the smallest input that raises it.

python -m tests.fuzz 1000000              all doors
python -m tests.fuzz 50000 trace frame    those whose names have one of these words
python -m tests.fuzz 50000 trace guided   the same, led by the lines that are reached; see guided.py
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from tests.fuzz.crossing import crossed
from tests.fuzz.door import Door

OUT = Path(__file__).resolve().parents[1] / "out" / "fuzz"
MADE, MIXED = 200, 4800  # inputs of a round: hypothesis makes the first, which are mixed for the others
LONGEST = 60  # seconds of the processor that one input may take
PATIENCE = 600  # seconds by the clock: what waits for ever takes no processor, and a busy machine is no hang
MEMORY = 1_500_000_000  # bytes beyond what a process has after its first inputs


def main(arguments: Sequence[str]) -> int:
    """Ask; 1 where something was found."""
    os.environ.update(  # one thread, since two that wait for each other come to nothing on a busy machine
        OMP_NUM_THREADS="1",
        HF_HUB_OFFLINE="1",
        TOKENIZERS_PARALLELISM="false",
        HF_HOME=tempfile.mkdtemp(prefix="headlight-fuzz-"),
    )
    guided = "guided" in arguments
    processes, ask = _processes(guided), _ask_guided if guided else _ask
    from tests.fuzz.doors import DOORS

    many, words = int(arguments[0]) if arguments else 100_000, [word for word in arguments[1:] if word != "guided"]
    doors = [door for door in DOORS.values() if not words or any(word in door.name for word in words)]
    whole = sum(door.share for door in doors)
    OUT.mkdir(parents=True, exist_ok=True)
    asked, found, began = 0, 0, time.monotonic()
    for door in doors:
        count, problem = _watched(processes, ask, door.name, max(1, round(many * door.share / whole)))
        asked += count
        found += problem is not None
        print(f"{asked:>9,} {time.monotonic() - began:7.0f} s  {door.name}: {count:,}", flush=True)
        if problem is not None:
            print(problem, flush=True)
    print(f"{asked:,} inputs, {found} found")
    return int(found > 0)


def _processes(guided: bool) -> Any:
    """How processes are started: from one that has imported everything, where there is such a thing."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(["tests.fuzz.guided" if guided else "tests.fuzz.doors"])
    return found


def _watched(processes: Any, ask: Callable[..., None], name: str, many: int) -> tuple[int, str | None]:
    """How many inputs a door was asked, and what was found."""
    file = OUT / (re.sub(r"\W+", "-", name) + ".txt")
    file.unlink(missing_ok=True)
    here, there = processes.Pipe(duplex=False)
    process = processes.Process(target=ask, args=(name, many, file, there), daemon=True)
    process.start()
    there.close()
    asked, problem = 0, None
    while True:
        try:
            if not here.poll(PATIENCE):
                process.kill()
                return asked, f"Nothing came for {PATIENCE} s:\n{_last(file)}"
            told = here.recv()
        except EOFError:
            process.join()
            return asked, f"{_ended(process.exitcode)}:\n{_last(file)}" if process.exitcode else problem
        if isinstance(told, int):
            asked = told
        else:
            problem = told


def _ended(code: int) -> str:
    if hasattr(signal, "SIGPROF") and code == -signal.SIGPROF:
        return f"It took more than {LONGEST} s of the processor"
    return f"The process ended with {code}"


def _last(file: Path) -> str:
    """The input that was asked last."""
    return f"{file}\n{file.read_text()[:2000]}" if file.exists() else "before the first input"


class Knocks:
    """Asks a door, and tells who waits how often; the input that is asked stands in the file meanwhile."""

    def __init__(self, door: Door, file: Path, tell: Connection) -> None:
        self._door, self._tell, self._file = door, tell, file
        self._place = os.open(file, os.O_RDWR | os.O_CREAT)
        self._told, self.asked = 0.0, 0
        warnings.simplefilter("ignore")

    def __call__(self, given: object) -> None:
        said = repr(given).encode("utf-8", "backslashreplace")
        os.pwrite(self._place, said, 0)
        os.ftruncate(self._place, len(said))
        _bound_time()
        self._door.knock(given)
        self.asked += 1
        if self.asked == 20:
            _bound_memory()
        if time.monotonic() - self._told > 1:
            self._told = time.monotonic()
            self._tell.send(self.asked)

    def found(self) -> None:
        """Tells what was raised."""
        self._tell.send(f"{self._file}\n{traceback.format_exc()[-6000:]}")

    def end(self) -> None:
        """Tells that nothing was found to the end."""
        self._file.unlink()
        self._tell.send(self.asked)


def _ask(name: str, many: int, file: Path, tell: Connection) -> None:
    """In a process of its own: ask in rounds."""
    from tests.fuzz.doors import DOORS

    door, turn, random = DOORS[name], 0, Random()
    knock = Knocks(door, file, tell)
    while knock.asked < many and turn < 3 * many // MADE + 3:
        turn += 1
        try:
            made = _round(door.inputs, knock, min(MADE, many - knock.asked))
            for _ in range(min(MIXED, many - knock.asked) if door.mixes and made else 0):
                knock(crossed(random.choice(made), random.choice(made), random))
        except BaseException:  # whatever it is, a stranger caused it
            knock.found()
            return
    knock.end()


def _ask_guided(name: str, many: int, file: Path, tell: Connection) -> None:
    """In a process of its own, which the fuzzer never returns from."""
    from tests.fuzz import guided
    from tests.fuzz.doors import DOORS

    knock = Knocks(DOORS[name], file, tell)

    def counted(given: object) -> None:
        try:
            knock(given)
        except BaseException:
            knock.found()
            os._exit(0)
        if knock.asked == many:
            knock.end()
            os._exit(0)

    guided.ask(DOORS[name].inputs, counted)


def _round(inputs: SearchStrategy[Any], knock: Callable[[object], None], many: int) -> list[object]:
    made: list[object] = []

    @settings(
        max_examples=many,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(inputs)
    def ask(given: object) -> None:
        made.append(given)
        knock(given)

    ask()
    return made


def _bound_time() -> None:
    """The system ends a process that takes more of the processor than this for one input, whatever it is doing."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, LONGEST)


def _bound_memory() -> None:
    """Who wants more from now on gets MemoryError; only Linux can say so of a process."""
    if sys.platform == "linux":
        import resource

        has = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (has + MEMORY, resource.RLIM_INFINITY))
