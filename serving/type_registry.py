"""The classes that a frame may hold: those that state what can be asked and answered, by their names."""

from __future__ import annotations

import dataclasses
import importlib
from functools import lru_cache

import attention
from inference import hub_cards, request, tasks
from inference.files import hub, hub_files

SPOKEN = tuple(module.__name__ for module in (attention, tasks, request, hub_cards, hub, hub_files))


class InvalidFrame(ValueError):
    """Bytes that are no whole frame of this version."""


def name_of(kind: type) -> str:
    """A class as a frame names it; raises TypeError for one that no frame holds."""
    if not dataclasses.is_dataclass(kind) or not _is_spoken(kind.__module__) or "." in kind.__qualname__:
        raise TypeError(f"A {kind.__qualname__} has no place in a frame.")
    return f"{kind.__module__}:{kind.__name__}"


@lru_cache(256)
def class_of(name: str) -> type:
    """The class that a frame names; raises Broken for one that no frame holds."""
    module, _colon, kind = name.partition(":")
    if not _is_spoken(module) or not all(part.isidentifier() for part in (*module.split("."), kind)):
        raise InvalidFrame("The answer names a class that no answer is made of.")
    found = getattr(importlib.import_module(module), kind)
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)) or name_of(found) != name:
        raise InvalidFrame("The answer names a class that no answer is made of.")
    return found


def _is_spoken(module: str) -> bool:
    return any(f"{module}.".startswith(f"{room}.") for room in SPOKEN)
