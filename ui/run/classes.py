"""The classes of students on this server, and the identity of a visitor in a class."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path

from classroom.store import MOST_ROOMS, MOST_STUDENTS, Store
from inference.files import sources
from ui.run.fine_tuning import visitor
from ui.run.services import get_backend
from ui.state.visitor_values import VisitorValues

FILE = "rooms.sqlite"
SWEEP = 600.0  # Seconds between two deletions of expired classes.
_JOINED: VisitorValues[str] = VisitorValues(MOST_ROOMS * MOST_STUDENTS)  # Code of the class that a student joined.


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
    """Return the code of the class of students that this visitor teaches, else of the class joined last, or None."""
    if not _file().exists():
        return None
    joined = _JOINED.get()
    return store().taught_by(visitor_secret()) or (joined if joined and store().version(joined) else None)


def join_class(code: str, name: str) -> None:
    """Add this visitor to a class of students; raise NotInClass if the class does not accept the student."""
    store().join(code, visitor_secret(), name)
    _JOINED.put(code)


def rejoin_class(code: str) -> None:
    """Bring this visitor back to a class of students; raise NotInClass if there is no such class."""
    store().rejoin(code, visitor_secret())
    _JOINED.put(code)


def forget_joined_class() -> None:
    """Do not return this visitor to the class that the visitor joined last."""
    _JOINED.delete()


def attends_any() -> bool:
    """Return True if this visitor is a student in any class of this server."""
    return _file().exists() and store().attends(visitor_secret())


async def sweep_rooms() -> None:
    """Delete expired classes of students now, and every SWEEP seconds from then on."""
    while True:
        if _file().exists():
            await asyncio.to_thread(lambda: store().sweep())
        await asyncio.sleep(SWEEP)
