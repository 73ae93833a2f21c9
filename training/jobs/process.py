"""The process of one training: how it begins and is stopped, and what is said of an end that it did not tell itself."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from i18n import gettext_lazy
from inference.files import fine_tuned
from training.jobs.job import LOG, TWIN, State

COMMAND = (sys.executable, "-m", "training", "job")
ROOT = Path(__file__).resolve().parents[2]
LAST = 300  # characters of what it printed that are told
OUT_OF_MEMORY = gettext_lazy(
    "The system ended this training, most likely because memory ran out. Ask for a smaller model, shorter texts or"
    " fewer texts in a step."
)
NO_MEMORY = ("MemoryError", "can't allocate memory", "Cannot allocate memory")  # as Python, torch and the system say it
UNEXPECTED = gettext_lazy("This training ended unexpectedly.")


# What ends a training at once, where SIGTERM has it save what is best so far.
AT_ONCE = getattr(signal, "SIGKILL", signal.SIGTERM)


class TrainingProcess:
    """A training that runs as a child of this process."""

    def __init__(self, command: tuple[str, ...], folder: Path) -> None:
        self.folder, self.asked_to_end = folder, False
        # It asks no hub: the model is here by now, or it is refused. Its end of the pipe tells it that the app is gone.
        env = {**os.environ, "HF_HUB_OFFLINE": "1", "HEADLIGHT_TAUGHT": str(folder.parent)}
        with (folder / LOG).open("ab") as log:
            self._child = subprocess.Popen(
                [*command, str(folder)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env=env,
                # Ctrl-C in the app's terminal is the app's alone. The session stays one: of two sessions Linux gives
                # each half of the machine, however low the priority of one's processes (autogroup in sched(7)).
                process_group=0,
            )

    def end(self, number: signal.Signals) -> None:
        """Asks it to save what is best so far and to end (SIGTERM), or ends it at once."""
        self.asked_to_end = True
        self._child.send_signal(number)

    def wait(self) -> int:
        """Its exit status, once it has ended."""
        with self._child:  # closes the pipe
            return self._child.wait()


def is_running(pid: int, folder: Path) -> bool:
    """Whether that process is there and trains in the folder; another program may have its number by now."""
    import psutil

    try:
        return pid > 0 and str(folder) in psutil.Process(pid).cmdline()
    except psutil.Error:
        return False


def send_signal(pid: int, folder: Path, number: signal.Signals) -> None:
    """Sends a signal to the process that trains in the folder, if it is there."""
    if is_running(pid, folder):
        os.kill(pid, number)


def end_state(folder: Path, status: int, asked_to_end: bool) -> tuple[State, str]:
    """How a training stands that ended and did not say how, and the sentence that says why."""
    if asked_to_end:
        return "stopped", ""
    begun = any((folder / part / "run" / "checkpoint.pt").is_file() for part in (fine_tuned.MODEL, TWIN))
    last = last_words(folder / LOG)
    if status == -9 or any(words in last for words in NO_MEMORY):
        said = OUT_OF_MEMORY
    else:
        said = (
            gettext_lazy("{unexpected} The last that it said: {last}", unexpected=UNEXPECTED, last=last)
            if last
            else UNEXPECTED
        )
    return "stopped" if begun else "failed", said


def last_words(log: Path) -> str:
    """The last line that a process printed, without the paths of this machine."""
    try:
        with log.open("rb") as stream:
            stream.seek(max(0, log.stat().st_size - 4_000))
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return re.sub(r"(?:[A-Za-z]:)?(?:[/\\][\w.@+-]+){2,}", "…", last)[:LAST]
