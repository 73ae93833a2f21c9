"""The classes of this server, and who a session is in one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from classroom.store import Store
from inference.files import taught
from ui.run.shelf import backend
from ui.run.teaching import visitor

FILE = "rooms.sqlite"


def store() -> Store:
    """The rooms that all sessions of this server share."""
    return _store(taught.place_of(backend().settings).parent / "classes" / FILE)


@cache
def _store(file: Path) -> Store:
    return Store(file)


def myself() -> str:
    """The secret that only this visitor's browser and this server know."""
    return visitor()
