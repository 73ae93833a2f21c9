"""A picture as a file that a browser shows: no larger than a screen shows it, encoded by Pillow."""

from __future__ import annotations

import base64
import io

from attention.picture import Picture

LONGEST = 896  # pixels of its longer side
LOSSLESS = 128  # pixels of the longer side up to which nothing may be lost


def photo(picture: Picture) -> bytes:
    """A JPEG; of a small picture a PNG, pixel for pixel."""
    from PIL import Image

    made, file = Image.fromarray(picture.pixels), io.BytesIO()
    if max(made.size) <= LOSSLESS:
        made.save(file, "PNG")
        return file.getvalue()
    made.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
    made.save(file, "JPEG", quality=84)
    return file.getvalue()


def kind_of_photo(file: bytes) -> str:
    """What kind of file it is.

    >>> kind_of_photo(b"\\x89PNG"), kind_of_photo(b"\\xff\\xd8")
    ('image/png', 'image/jpeg')
    """
    return "image/png" if file.startswith(b"\x89PNG") else "image/jpeg"


def as_address(file: bytes) -> str:
    """The same as an address that holds it.

    >>> as_address(b"\\xff\\xd8")
    'data:image/jpeg;base64,/9g='
    """
    return f"data:{kind_of_photo(file)};base64,{base64.b64encode(file).decode()}"
