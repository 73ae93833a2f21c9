"""A picture as a file that a browser shows: no larger than a screen shows it, encoded by Pillow."""

from __future__ import annotations

import base64
import io

import numpy as np

from attention.grid import Grid
from attention.mask import FloatArray
from attention.picture import Picture

LONGEST = 896  # pixels of its longer side
DIMMEST = 212 / 255  # of a patch's light that is taken where it has no weight; picture_drawing.js
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


def dim_patches(picture: Picture, grid: Grid, weights: FloatArray) -> bytes:
    """The picture with its patches as bright as the root of their weight beside the largest; a PNG.

    ``weights`` is (token,); what the model was not given is as dim as a patch without weight. As drawDimmed of
    picture_drawing.js.
    """
    from PIL import Image

    made, file = Image.fromarray(picture.pixels), io.BytesIO()
    scale = min(1.0, LONGEST / max(made.size))
    made = made.resize((max(1, round(scale * made.width)), max(1, round(scale * made.height))))
    patches = np.clip(weights[grid.start : grid.start + len(grid)], 0, None).reshape(grid.rows, grid.columns)
    light = np.sqrt(patches / (float(patches.max()) or 1.0))
    left, top, right, bottom = (round(scale * edge) for edge in grid.box)
    shown = np.full((made.height, made.width), 1 - DIMMEST)
    rows = np.minimum(np.arange(bottom - top) * grid.rows // max(1, bottom - top), grid.rows - 1)
    columns = np.minimum(np.arange(right - left) * grid.columns // max(1, right - left), grid.columns - 1)
    shown[top:bottom, left:right] = 1 - DIMMEST * (1 - light[np.ix_(rows, columns)])
    Image.fromarray((np.asarray(made) * shown[..., None]).round().astype(np.uint8)).save(file, "PNG")
    return file.getvalue()
