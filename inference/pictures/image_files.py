"""Decoding of picture files, with an error message of a single sentence for each problem.

PNG, JPEG and WebP are recognised by the content of the file, not by its name, and the size is checked before any
pixel is decoded. The result contains upright pixels only: metadata such as the place and time of a photo, and all
frames after the first, are discarded. Colours are used as stored, without the colour profile of the file.
"""

from __future__ import annotations

import threading
from io import BytesIO

import numpy as np
from PIL import Image

from attention.pictures import Picture
from i18n import gettext_lazy
from inference.errors import OUT_OF_MEMORY, UserError

MOST_BYTES = 30_000_000
MOST_PIXELS = 50_000_000
MOST_SIDE = 16_383  # the limit of WebP
LONGEST = 2_048  # pixels of the longer side; a larger picture is scaled down to it
MOST_SCANS = 40  # scans of a JPEG, each a pass over all pixels; files of cameras have about a dozen

_WEBP, _RIFF, _NAMED = b"WEBP", b"RIFF", 8  # offset of the format in a RIFF file
KINDS = {b"\x89PNG\r\n\x1a\n": "PNG", b"\xff\xd8\xff": "JPEG"}
OTHERS = {  # other common formats, by their first bytes
    b"GIF8": "GIF", b"BM": "BMP", b"II*\0": "TIFF", b"MM\0*": "TIFF", b"%PDF": "PDF", b"<svg": "SVG", b"<?xml": "SVG",
    b"8BPS": "PSD",
}  # fmt: skip
_BRANDS = {b"ftyphe": "HEIC", b"ftypmif1": "HEIC", b"ftypavi": "AVIF"}  # compared from the fifth byte

_ORIENTATION = 0x0112  # EXIF tag of the orientation of the stored pixels
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_ONE_AT_A_TIME = threading.Lock()  # a lock, so that decoding never takes more memory than a single picture


def open_picture(data: bytes) -> Picture:
    """Return the first frame of a file, upright, on white, its longer side at most ``LONGEST``.

    Raise UserError if the content is not a supported picture, is damaged, or exceeds the limits.
    """
    kind = _detect_format(data)
    try:
        with _ONE_AT_A_TIME, Image.open(BytesIO(data), formats=(kind,)) as image:
            _refuse_large(*image.size)
            image.load()
            return Picture(np.asarray(_apply_orientation(_to_rgb(image), _orientation(image))))
    except UserError:
        raise
    except MemoryError as error:
        raise UserError(OUT_OF_MEMORY) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_large(gettext_lazy("far too many")) from error
    except Exception as error:  # damaged data raises many types: SyntaxError, struct.error, zlib.error …
        raise UserError(
            gettext_lazy(
                "This {kind} picture is damaged or incomplete. Save it again.",
                kind=kind,
            )
        ) from error


def _detect_format(data: bytes) -> str:
    """Return the format, "PNG", "JPEG" or "WEBP"; raise UserError for other formats and for large files."""
    if not data:
        raise UserError(gettext_lazy("The file is empty. Add a PNG, JPEG or WebP picture."))
    if len(data) > MOST_BYTES:
        raise UserError(
            gettext_lazy(
                "The picture has {megabytes:,.0f} MB; the limit is {most:,.0f}. Save it smaller.",
                megabytes=len(data) / 1e6,
                most=MOST_BYTES / 1e6,
            )
        )
    webp = data.startswith(_RIFF) and data[_NAMED:].startswith(_WEBP)
    kind = "WEBP" if webp else next((name for mark, name in KINDS.items() if data.startswith(mark)), None)
    if kind is None:
        other = next((name for mark, name in OTHERS.items() if data.startswith(mark)), None)
        other = other or next((name for mark, name in _BRANDS.items() if data[4:].startswith(mark)), None)
        raise UserError(
            gettext_lazy("The file is not a PNG, JPEG or WebP picture.")
            if other is None
            else gettext_lazy("The file is {kind}. Save it as PNG, JPEG or WebP.", kind=other)
        )
    if kind == "JPEG" and data.count(b"\xff\xda") > MOST_SCANS:
        raise UserError(
            gettext_lazy(
                "This JPEG has over {most} passes, too slow to read. Save it again.",
                most=MOST_SCANS,
            )
        )
    return kind


def _refuse_large(width: int, height: int) -> None:
    if max(width, height) > MOST_SIDE or width * height > MOST_PIXELS:
        raise _too_large(f"{width:,} × {height:,}")


def _too_large(stated: str) -> UserError:
    return UserError(
        gettext_lazy(
            "The picture has {stated} pixels; the limits are {most:,.0f} million, and {side:,} along "
            "a side. Make it smaller.",
            stated=stated,
            most=MOST_PIXELS / 1e6,
            side=MOST_SIDE,
        )
    )


def _to_rgb(image: Image.Image) -> Image.Image:
    """Return the image as 8-bit RGB, scaled down if it is large, with transparency on white."""
    if image.mode.startswith("I"):  # 16-bit greyscale
        image = Image.fromarray((np.asarray(image).clip(0, 65_535) >> 8).astype(np.uint8))
    clear = image.has_transparency_data
    wanted = "RGBA" if clear else "RGB"
    image = _downscale(image if image.mode == wanted else image.convert(wanted))
    if not clear:
        return image
    white = Image.new("RGB", image.size, "white")
    white.paste(image, mask=image.getchannel("A"))
    return white


def _downscale(image: Image.Image) -> Image.Image:
    longest = max(image.size)
    if longest <= LONGEST:
        return image
    width, height = (max(1, round(side * LONGEST / longest)) for side in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3)


def _orientation(image: Image.Image) -> int:
    """Return the EXIF orientation, 1 to 8, or 1 (upright) if it cannot be read."""
    try:
        return int(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # damaged EXIF raises many types of errors, but the pixels are intact, and browsers show them
        return 1


def _apply_orientation(image: Image.Image, orientation: int) -> Image.Image:
    turn = _UPRIGHT.get(orientation)
    return image if turn is None else image.transpose(turn)
