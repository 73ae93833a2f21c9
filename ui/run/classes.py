"""The classes of this server, and who a session is in one."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path

from classroom.store import Store
from inference.files import sources
from ui.run.fine_tuning import visitor
from ui.run.services import get_backend

FILE = "rooms.sqlite"
SWEEP = 600.0  # seconds between two looks for rooms that are over


def store() -> Store:
    """The rooms that all sessions of this server share."""
    return _store(_file())


def _file() -> Path:
    return sources.place_of(get_backend().settings).parent / "classes" / FILE


@cache
def _store(file: Path) -> Store:
    return Store(file)


def visitor_secret() -> str:
    """The secret that only this visitor's browser and this server know."""
    return visitor()


def own_room_code() -> str | None:
    """Return the code of the room that this visitor teaches, or None."""
    return store().taught_by(visitor_secret()) if _file().exists() else None


def attends_any() -> bool:
    """Return whether this visitor has a seat in any room of this server."""
    return _file().exists() and store().attends(visitor_secret())


async def sweep_rooms() -> None:
    """Delete rooms whose day is over, now and every few minutes, also if nobody opens another room."""
    while True:
        if _file().exists():
            await asyncio.to_thread(lambda: store().sweep())
        await asyncio.sleep(SWEEP)
