"""A lesson's file in a link: packed, and bounded when it is unpacked."""

from __future__ import annotations

import base64
import binascii
import zlib

from lessons.reading import MOST_BYTES

LONGEST = 20_000  # characters of an address that are left for it


def pack_lesson(text: str) -> str | None:
    """The file as an address carries it; None where it is too long for one.

    >>> unpack_lesson(pack_lesson("title = 'x'"))
    "title = 'x'"
    """
    found = base64.urlsafe_b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode().rstrip("=")
    return found if len(found) <= LONGEST else None


def unpack_lesson(raw: str) -> str | None:
    """The file in an address; None where that is damaged or unfolds to more than a lesson may have."""
    try:
        unfolding = zlib.decompressobj()
        data = unfolding.decompress(base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4)), MOST_BYTES)
        return data.decode() if unfolding.eof else None
    except (binascii.Error, zlib.error, ValueError):
        return None
