"""The main loop of a hub model's subprocess, which answers requests from its standard input.

The model's tokenizer and weights are untrusted. The process limits its own memory, and a library that aborts ends only
this process.
"""

from __future__ import annotations

import os
import struct
import sys
import threading
from pathlib import Path
from typing import IO, Any

from i18n import gettext_lazy
from inference.backend import LocalBackend
from inference.cancellation import CancelToken, check, use_token
from inference.errors import OUT_OF_MEMORY, UserError
from inference.scheduling import FairThreadPool
from inference.settings import Settings
from serving.protocol import blocks_of, unpack

LENGTH = struct.Struct("<Q")
AT_ONCE = 8  # threads for requests; the backend's Scheduler limits the concurrent forward passes
FAILED = gettext_lazy("This model's files failed when read or run. Pick another model.")


def send(stream: IO[bytes], value: Any) -> None:
    """Write a value to a stream as a message, preceded by its length."""
    blocks = blocks_of(value)
    stream.writelines([LENGTH.pack(sum(map(len, blocks))), *blocks])
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read the next value from a stream; raise EOFError at its end."""
    head = stream.read(LENGTH.size)
    frame = stream.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
    if not frame:
        raise EOFError
    return unpack(frame)


def limit_memory(nbytes: int) -> None:
    """Limit the private memory of this process to its present size plus ``nbytes``.

    Core dumps are disabled, too. Nothing happens on systems without such limits.
    """
    try:
        import resource

        now = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData"))
        most = int(now.split()[1]) * 1024 + nbytes
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, StopIteration):
        return


def settings_from(told: dict[str, Any]) -> Settings:
    """Return the settings from their fields ``told``, plain values that serving.model_process sent."""
    paths = {name: Path(told[name]) for name in ("cache", "taught") if told[name] is not None}
    return Settings(**{**told, **paths, "model_folders": tuple(Path(folder) for folder in told["model_folders"])})


class ModelWorker:
    """A worker that computes the answers to several requests at the same time, each with a number."""

    def __init__(self, backend: LocalBackend, out: IO[bytes]) -> None:
        self.backend, self.out = backend, out
        self._one_writes = threading.Lock()
        self._crew = FairThreadPool(AT_ONCE, "answering")
        self._stops: dict[int, CancelToken] = {}

    def take(self, number: int, who: int, asked: Any) -> None:
        """Queue request ``number`` of the visitor ``who``, or cancel the request if ``asked`` is None."""
        if asked is None:
            if (stop := self._stops.get(number)) is not None:
                stop.stop()
            return
        stop = self._stops[number] = CancelToken(str(who))
        self._crew.submit(stop.who, lambda: self.answer(number, asked, stop))

    def answer(self, number: int, asked: Any, stop: CancelToken) -> None:
        """Compute the answer to a request, and write its number and the answer, or a UserError, to the output."""
        try:
            with use_token(stop):
                check()
                found: Any = self.backend.computed(asked) if isinstance(asked, list) else self.backend.made(asked)
        except UserError as refusal:
            found = UserError(refusal.message, way_out=refusal.way_out, details=_portable_details(refusal.details))
        except MemoryError:
            found = UserError(OUT_OF_MEMORY, way_out="embedded")
        except Exception as error:
            print(f"{type(error).__name__} in a foreign model's process", file=sys.stderr, flush=True)
            found = UserError(FAILED, way_out="embedded")
        del self._stops[number]
        with self._one_writes:
            send(self.out, (number, found))


def _portable_details(details: dict[str, Any]) -> dict[str, Any]:
    """Return the error details that can be sent to another process."""
    return {name: value for name, value in details.items() if isinstance(value, str | int | float | tuple | None)}


def main() -> None:
    """Answer requests until standard input is closed."""
    source = sys.stdin.buffer
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # output that a library prints must not mix with the answers
    told, nbytes = receive(source)
    worker = ModelWorker(LocalBackend(settings_from(told)), out)
    _import_what_models_need()
    limit_memory(nbytes)
    while True:
        try:
            question = receive(source)
        except EOFError:
            os._exit(0)  # the app has ended or dropped this process, so nobody needs the running computations
        worker.take(*question)


def _import_what_models_need() -> None:
    """Import transformers before the memory limit is set, so that libraries do not count against it.

    The project's own modules import it lazily.
    """
    from transformers import PreTrainedModel, PreTrainedTokenizerFast  # noqa: F401


if __name__ == "__main__":
    main()
