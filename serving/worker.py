"""The process of a foreign model: reads questions from its input, answers on its output, and ends with its input.

What a stranger's tokenizer or weights do to a process, they do to this one: it may take so much memory and no more, and
where a library aborts, it is this process that is gone.
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
AT_ONCE = 8  # questions in hand; the model's own gate says how many are computed
FAILED = gettext_lazy("This model's files broke while they were read or run. Pick another model.")


def send(stream: IO[bytes], value: Any) -> None:
    """Writes one value."""
    blocks = blocks_of(value)
    stream.writelines([LENGTH.pack(sum(map(len, blocks))), *blocks])
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Reads one value; raises EOFError where there is none any more."""
    head = stream.read(LENGTH.size)
    frame = stream.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
    if not frame:
        raise EOFError
    return unpack(frame)


def limit_memory(nbytes: int) -> None:
    """No more private memory than this process has now and so many bytes; where the system knows such a bound."""
    try:
        import resource

        now = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData"))
        most = int(now.split()[1]) * 1024 + nbytes
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, StopIteration):
        return


def settings_from(told: dict[str, Any]) -> Settings:
    """The app's settings, as ``told`` by serving.model_process."""
    paths = {name: Path(told[name]) for name in ("cache", "taught") if told[name] is not None}
    return Settings(**{**told, **paths, "model_folders": tuple(Path(folder) for folder in told["model_folders"])})


class ModelWorker:
    """Answers questions, several at a time, each with its number."""

    def __init__(self, backend: LocalBackend, out: IO[bytes]) -> None:
        self.backend, self.out = backend, out
        self._one_writes = threading.Lock()
        self._crew = FairThreadPool(AT_ONCE, "answering")
        self._stops: dict[int, CancelToken] = {}

    def take(self, number: int, who: int, asked: Any) -> None:
        """Has a question answered, in its visitor's turn; without a question, the one of that number is stopped."""
        if asked is None:
            if (stop := self._stops.get(number)) is not None:
                stop.stop()
            return
        stop = self._stops[number] = CancelToken(str(who))
        self._crew.submit(stop.who, lambda: self.answer(number, asked, stop))

    def answer(self, number: int, asked: Any, stop: CancelToken) -> None:
        """Writes (number, what came of it)."""
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
    """Of what a refusal names, what can be told to another process."""
    return {name: value for name, value in details.items() if isinstance(value, str | int | float | tuple | None)}


def main() -> None:
    """Answers until the input ends."""
    source = sys.stdin.buffer
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    told, nbytes = receive(source)
    worker = ModelWorker(LocalBackend(settings_from(told)), out)
    _import_what_models_need()
    limit_memory(nbytes)
    while True:
        try:
            question = receive(source)
        except EOFError:
            os._exit(0)  # the app is gone, or needs this no more: whatever is being computed is for nobody
        worker.take(*question)


def _import_what_models_need() -> None:
    """Before the bound is set: libraries are no part of what a model takes. Our own rooms import them late."""
    from transformers import PreTrainedModel, PreTrainedTokenizerFast  # noqa: F401


if __name__ == "__main__":
    main()
