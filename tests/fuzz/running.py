"""`make fuzz N=1000000`: so many inputs over all doors, door by door, each door in a process of its own.

What a process does to itself (an abort, a hang, memory without end) ends that process alone, and the input that did it
is in tests/out/fuzz/, as Python writes it; what was only raised is there as the smallest input that raises it.

python -m tests.fuzz 1000000              all doors
python -m tests.fuzz 50000 trace frame    those whose names have one of these words
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

OUT = Path(__file__).resolve().parents[1] / "out" / "fuzz"
ROUND = 1000  # inputs that hypothesis is asked for at once: it remembers all of a round
LONGEST = 60  # seconds of the processor that one input may take
PATIENCE = 600  # seconds by the clock: what waits for ever takes no processor, and a busy machine is no hang
MEMORY = 1_500_000_000  # bytes beyond what a process has after its first inputs


def main(arguments: Sequence[str]) -> int:
    """Ask; 1 where something was found."""
    os.environ.update(
        HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", HF_HOME=tempfile.mkdtemp(prefix="headlight-fuzz-")
    )
    from tests.fuzz.doors import DOORS

    processes = _processes()
    many, words = int(arguments[0]) if arguments else 100_000, arguments[1:]
    doors = [door for door in DOORS.values() if not words or any(word in door.name for word in words)]
    whole = sum(door.share for door in doors)
    OUT.mkdir(parents=True, exist_ok=True)
    asked, found, began = 0, 0, time.monotonic()
    for door in doors:
        count, problem = _watched(processes, door.name, max(1, round(many * door.share / whole)))
        asked += count
        found += problem is not None
        print(f"{asked:>9,} {time.monotonic() - began:7.0f} s  {door.name}: {count:,}", flush=True)
        if problem is not None:
            print(problem, flush=True)
    print(f"{asked:,} inputs, {found} found")
    return int(found > 0)


def _processes() -> Any:
    """How processes are started: from one that has imported everything, where there is such a thing."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(["tests.fuzz.doors"])
    return found


def _watched(processes: Any, name: str, many: int) -> tuple[int, str | None]:
    """How many inputs a door was asked, and what was found."""
    file = OUT / (re.sub(r"\W+", "-", name) + ".txt")
    file.unlink(missing_ok=True)
    here, there = processes.Pipe(duplex=False)
    process = processes.Process(target=_ask, args=(name, many, file, there), daemon=True)
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


def _ask(name: str, many: int, file: Path, tell: Connection) -> None:
    """In a process of its own: ask in rounds, and tell after each input that matters how many there were."""
    import traceback

    from tests.fuzz.doors import DOORS

    door, asked, told = DOORS[name], 0, 0.0
    warnings.simplefilter("ignore")
    place = os.open(file, os.O_RDWR | os.O_CREAT)

    def knock(given: object) -> None:
        nonlocal asked, told
        said = repr(given).encode("utf-8", "backslashreplace")
        os.pwrite(place, said, 0)
        os.ftruncate(place, len(said))
        _bound_time()
        door.knock(given)
        asked += 1
        if asked == 20:
            _bound_memory()
        if time.monotonic() - told > 1:
            told = time.monotonic()
            tell.send(asked)

    turn = 0
    while asked < many and turn < 3 * many // ROUND + 3:
        turn += 1
        try:
            _round(door.inputs, knock, min(ROUND, many - asked))
        except BaseException:  # whatever it is, a stranger caused it
            tell.send(f"{file}\n{traceback.format_exc()[-6000:]}")
            break
    else:
        file.unlink()
    tell.send(asked)


def _round(inputs: SearchStrategy[Any], knock: Callable[[object], None], many: int) -> None:
    @settings(
        max_examples=many,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(inputs)
    def ask(given: object) -> None:
        knock(given)

    ask()


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
