"""All fuzz targets, by name."""

from __future__ import annotations

from tests.fuzz import addresses, asked, files, wire

DOORS = {door.name: door for room in (addresses, asked, files, wire) for door in room.DOORS}
