"""All doors, by their names."""

from __future__ import annotations

from tests.fuzz import addresses, asked, files, wire

DOORS = {door.name: door for room in (addresses, asked, files, wire) for door in room.DOORS}
