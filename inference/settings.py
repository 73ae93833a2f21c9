"""What the operator decides, read once from the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from inference.errors import UserError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS_BINARY = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_TRUE = {"1", "on", "yes", "true"}


def parse_bytes(text: str) -> int:
    """Bytes from a text such as "4GB", "512 MiB" or "300000000".

    >>> parse_bytes("1.5 GB"), parse_bytes("512MiB"), parse_bytes("1024")
    (1500000000, 536870912, 1024)
    """
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(?:([kmgt]?)(i?)b?)\s*", text.lower())
    if match is None:
        raise UserError(f'"{text}" was given as an amount of memory; write it as "4GB" or "512MB".')
    number, unit, binary = match.groups()
    return int(float(number) * (_UNITS_BINARY[unit] if binary and unit else _UNITS[unit]))


@cache
def machine_memory() -> int:
    """Bytes of memory this process may use: the machine's, or its container's where that is less."""
    import psutil

    total = int(psutil.virtual_memory().total)
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            total = min(total, int(Path(name).read_text()))
        except (OSError, ValueError):
            continue  # no such group, or "max"
    return total


def free_memory() -> int:
    """Bytes of memory that are free now, for this process to take."""
    import psutil

    return min(int(psutil.virtual_memory().available), machine_memory())


def cores() -> int:
    """Processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Settings:
    """Limits and places. Without arguments: half the machine's memory for models, a quarter for traces, no folders."""

    model_memory_bytes: int = field(default_factory=lambda: machine_memory() // 2)
    trace_memory_bytes: int = field(default_factory=lambda: machine_memory() // 4)
    model_folders: tuple[Path, ...] = ()  # local models may be opened inside these only
    offline: bool = False  # never ask the hub
    endpoint: str | None = None  # None: huggingface_hub's own, which reads HF_ENDPOINT
    cache: Path | None = None  # None: huggingface_hub's own, which reads HF_HOME and HF_HUB_CACHE
    hub_timeout: float = 5.0  # seconds that a question to the hub may take
    threads: int | None = None  # of one forward pass; None: OMP_NUM_THREADS, or half the cores
    text_characters: int = 200_000  # longest text that is looked at at all
    taught: Path | None = None  # where models that visitors teach are kept; None: beside what the app unpacks
    taught_bytes: int = 2_000_000_000  # of the disk that those may take, oldest first out
    only_here: bool = False  # nobody is answered but this machine's own browser
    strangers: bool = False  # others than this machine's user are expected
    only_listed: bool = False  # of the hub, only the models of the list (inference.files.hub) are opened
    visitor_upload_bytes: int = 800_000_000  # of memory that one page's uploaded files may take
    upload_bytes: int = field(default_factory=lambda: machine_memory() // 8)  # that all visitors' may
    answer_seconds: float = 600.0  # that a visitor's trace or answer may take, its time in line and loading included
    figure_seconds: float = 120.0  # that what is worked out of a trace may take: a survey, a part of a picture
    file_seconds: float = 600.0  # that a file to be saved may take
    arranging_seconds: float = 600.0  # that UMAP may take
    at_a_stretch: float | None = None  # seconds that long work goes on before it waits for its reader to say so

    @property
    def largest_model(self) -> int:
        """Bytes of memory that one model may need."""
        return min(self.model_memory_bytes, machine_memory())

    @property
    def forward_threads(self) -> int:
        """Threads of one forward pass. Half the cores unless said: forwards that fight for cores run 5 times slower."""
        stated = os.environ.get("OMP_NUM_THREADS", "")
        return self.threads or (int(stated) if stated.isdigit() and int(stated) else max(1, cores() // 2))

    @property
    def forwards(self) -> int:
        """Forward passes that may run at once."""
        return max(1, cores() // self.forward_threads)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Reads HEADLIGHT_FOR, _MODEL_MEMORY, _TRACE_MEMORY, _MODEL_FOLDERS, _THREADS, _TAUGHT, _TAUGHT_BYTES.

        And HEADLIGHT_ONLY_LISTED, which HEADLIGHT_FOR decides where it is not stated; and HF_HUB_OFFLINE or
        TRANSFORMERS_OFFLINE, which their libraries read, too.

        Raise Refusal for a value that cannot be read, such as an amount of memory or a word that is not in FOR.

        >>> Settings.from_env({"HEADLIGHT_MODEL_MEMORY": "2GB", "HEADLIGHT_TRACE_MEMORY": "1GB"}).model_memory_bytes
        2000000000
        """
        env = os.environ if environ is None else environ
        plain = cls(**_preset(env.get("HEADLIGHT_FOR", "").strip().lower()))
        folders = (Path(part) for part in env.get("HEADLIGHT_MODEL_FOLDERS", "").split(os.pathsep) if part.strip())
        models, traces = env.get("HEADLIGHT_MODEL_MEMORY", ""), env.get("HEADLIGHT_TRACE_MEMORY", "")
        offline = env.get("HF_HUB_OFFLINE") or env.get("TRANSFORMERS_OFFLINE") or ""
        threads = env.get("HEADLIGHT_THREADS", "")
        taught, room = env.get("HEADLIGHT_TAUGHT", "").strip(), env.get("HEADLIGHT_TAUGHT_BYTES", "")
        listed = env.get("HEADLIGHT_ONLY_LISTED", "").strip().lower()
        return replace(
            plain,
            model_memory_bytes=parse_bytes(models) if models else plain.model_memory_bytes,
            trace_memory_bytes=parse_bytes(traces) if traces else plain.trace_memory_bytes,
            model_folders=tuple(folder.absolute() for folder in folders),
            offline=offline.lower() in _TRUE,
            threads=_threads(threads) if threads else None,
            taught=Path(taught).absolute() if taught else None,
            taught_bytes=parse_bytes(room) if room else plain.taught_bytes,
            only_listed=listed in _TRUE if listed else plain.only_listed,
        )


# Who is expected: what HEADLIGHT_FOR says in one word (docs/SECURITY.md). Without it, whoever reaches the app.
FOR: Mapping[str, Mapping[str, Any]] = {
    "laptop": {"only_here": True},
    "class": {
        "strangers": True,
        "visitor_upload_bytes": 200_000_000,
        "answer_seconds": 300.0,
        "figure_seconds": 60.0,
        "file_seconds": 300.0,
        "arranging_seconds": 300.0,
        "at_a_stretch": 120.0,
    },
    "public": {
        "strangers": True,
        "only_listed": True,
        "visitor_upload_bytes": 50_000_000,
        "upload_bytes": 500_000_000,
        "answer_seconds": 60.0,
        "figure_seconds": 30.0,
        "file_seconds": 60.0,
        "arranging_seconds": 120.0,
        "at_a_stretch": 30.0,
    },
}


def _threads(text: str) -> int:
    try:
        return max(1, int(text))
    except ValueError as error:
        raise UserError(f'"{text}" was given as HEADLIGHT_THREADS; write a whole number, such as 2.') from error


def _preset(setting: str) -> Mapping[str, Any]:
    if setting and setting not in FOR:
        raise UserError(f'"{setting}" was given as HEADLIGHT_FOR; write one of {", ".join(FOR)}.')
    return FOR.get(setting, {})
