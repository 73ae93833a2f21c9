"""Compression of lesson files into URLs, with a size limit on decompression."""

from __future__ import annotations

import base64
import binascii
import zlib

from lessons.reading import MOST_BYTES

LONGEST = 20_000  # maximum length of the parameter in a URL, in characters


def pack_lesson(text: str) -> str | None:
    """Compress a lesson file for a URL, or return None if it is too long.

    >>> unpack_lesson(pack_lesson("title = 'x'"))
    "title = 'x'"
    """
    found = base64.urlsafe_b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode().rstrip("=")
    return found if len(found) <= LONGEST else None


def unpack_lesson(raw: str) -> str | None:
    """Decompress a lesson file from a URL, or return None if it is damaged or exceeds the size limit."""
    try:
        unfolding = zlib.decompressobj()
        data = unfolding.decompress(base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4)), MOST_BYTES)
        return data.decode() if unfolding.eof else None
    except (binascii.Error, zlib.error, ValueError):
        return None
