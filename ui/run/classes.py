"""The classes of students on this server, and the identity of a visitor in a class."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path

from classroom.store import Store
from inference.files import sources
from ui.run.fine_tuning import visitor
from ui.run.services import get_backend

FILE = "rooms.sqlite"
SWEEP = 600.0  # Seconds between two deletions of expired classes.


def store() -> Store:
    """Return the store of all classes of students, which the sessions of this server share."""
    return _store(_file())


def _file() -> Path:
    return sources.fine_tuned_root(get_backend().settings).parent / "classes" / FILE


@cache
def _store(file: Path) -> Store:
    return Store(file)


def visitor_secret() -> str:
    """Return a secret that only this visitor's browser and this server know, to identify the visitor."""
    return visitor()


def own_room_code() -> str | None:
    """Return the code of the class of students that this visitor teaches, or None."""
    return store().taught_by(visitor_secret()) if _file().exists() else None


def attends_any() -> bool:
    """Return True if this visitor is a student in any class of this server."""
    return _file().exists() and store().attends(visitor_secret())


async def sweep_rooms() -> None:
    """Delete expired classes of students now, and every SWEEP seconds from then on."""
    while True:
        if _file().exists():
            await asyncio.to_thread(lambda: store().sweep())
        await asyncio.sleep(SWEEP)
