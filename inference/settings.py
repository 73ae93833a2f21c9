"""The operator's settings, read from the environment."""

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
    """Parse an amount of memory such as "4GB", "512 MiB" or "300000000" to bytes.

    Raise UserError if the text is invalid.

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
    """Return the bytes of memory of the machine, or of its container if that is less."""
    import psutil

    total = int(psutil.virtual_memory().total)
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            total = min(total, int(Path(name).read_text()))
        except (OSError, ValueError):
            continue  # the group does not exist, or its limit is "max"
    return total


def free_memory() -> int:
    """Return the bytes of free memory that this process may use."""
    import psutil

    return min(int(psutil.virtual_memory().available), machine_memory())


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Settings:
    """The operator's limits and folders; by default, models get half of the memory and traces a quarter."""

    model_memory_bytes: int = field(default_factory=lambda: machine_memory() // 2)
    trace_memory_bytes: int = field(default_factory=lambda: machine_memory() // 4)
    model_folders: tuple[Path, ...] = ()  # local models must lie inside these folders
    offline: bool = False  # True disables all requests to the hub
    endpoint: str | None = None  # None: the default of huggingface_hub, which reads HF_ENDPOINT
    cache: Path | None = None  # None: the default of huggingface_hub, which reads HF_HOME and HF_HUB_CACHE
    hub_timeout: float = 5.0  # seconds before a request to the hub fails
    threads: int | None = None  # per forward pass; None: OMP_NUM_THREADS, or half of the cores
    text_characters: int = 200_000  # longer texts are refused before tokenisation
    taught: Path | None = None  # the folder for models that visitors fine-tune; None: a folder in the cache
    taught_bytes: int = 2_000_000_000  # disk space for fine-tuned models; the oldest are deleted first
    only_here: bool = False  # True answers only browsers on this machine
    strangers: bool = False  # True if visitors other than this machine's user are expected
    only_listed: bool = False  # True limits the hub to the listed models (inference.files.hub)
    visitor_upload_bytes: int = 800_000_000  # memory for the uploaded files of a single page
    upload_bytes: int = field(default_factory=lambda: machine_memory() // 8)  # the same for all visitors together
    answer_seconds: float = 600.0  # limit for a visitor's trace or answer, including queueing and loading
    figure_seconds: float = 120.0  # limit for results computed from a trace, such as a survey
    file_seconds: float = 600.0  # limit for building a file to save
    arranging_seconds: float = 600.0  # limit for UMAP
    at_a_stretch: float | None = None  # seconds before long work waits for its reader to confirm; None: never

    @property
    def largest_model(self) -> int:
        """Return the bytes of memory that a single model may need."""
        return min(self.model_memory_bytes, machine_memory())

    @property
    def forward_threads(self) -> int:
        """Return the number of threads of a forward pass: half of the cores unless it is configured.

        Passes that compete for cores run 5 times slower.
        """
        stated = os.environ.get("OMP_NUM_THREADS", "")
        return self.threads or (int(stated) if stated.isdigit() and int(stated) else max(1, cores() // 2))

    @property
    def forwards(self) -> int:
        """Return the number of forward passes that may run at the same time."""
        return max(1, cores() // self.forward_threads)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Read the settings from HEADLIGHT_FOR, _MODEL_MEMORY, _TRACE_MEMORY, _MODEL_FOLDERS and others.

        The other variables are HEADLIGHT_THREADS, _TAUGHT, _TAUGHT_BYTES and _ONLY_LISTED, and HF_HUB_OFFLINE or
        TRANSFORMERS_OFFLINE, which their libraries read too. HEADLIGHT_FOR is a key of FOR, a preset for the other
        settings. Raise UserError if a value is invalid.

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


# Presets by the value of HEADLIGHT_FOR (docs/SECURITY.md). Without a preset, the app answers every browser.
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
