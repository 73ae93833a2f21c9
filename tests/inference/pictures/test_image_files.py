"""Image files of users: every format decodes to its pixels, and broken files raise an error."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, PngImagePlugin

from inference.errors import OUT_OF_MEMORY, UserError
from inference.pictures import image_files
from inference.pictures.image_files import LONGEST, MOST_BYTES, MOST_PIXELS, MOST_SCANS, MOST_SIDE, open_picture
from tests.support.cases import loop_over

Pixels = NDArray[np.uint8]
ORIENTATION = 0x0112
LOSSLESS: dict[str, dict[str, Any]] = {"PNG": {}, "WEBP": {"lossless": True, "exact": True}}


def photo(height: int = 40, width: int = 56) -> Pixels:
    """Return a smooth picture with a different colour in each corner and no symmetry."""
    down, across = np.linspace(0, 1, height)[:, None], np.linspace(0, 1, width)[None]
    rows = [255 * down + 0 * across, 255 * across + 0 * down, 127 * (1 - down) * (1 - across)]
    return np.stack(rows, axis=-1).astype(np.uint8)


def saved(picture: Image.Image | Pixels, kind: str, **options: Any) -> bytes:
    """Return the content of an image file."""
    stream = BytesIO()
    image = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
    image.save(stream, kind, **LOSSLESS.get(kind, {}), **options)
    return stream.getvalue()


@pytest.mark.parametrize("kind", LOSSLESS)
def test_pixels_come_out_as_they_are(kind: str) -> None:
    picture = open_picture(saved(photo(), kind))
    assert np.array_equal(picture.pixels, photo())
    assert not picture.pixels.flags.writeable


@pytest.mark.parametrize("options", [{"quality": 95}, {"quality": 95, "progressive": True}])
def test_a_jpeg_comes_out_as_it_is_told(options: dict[str, Any]) -> None:
    assert np.abs(open_picture(saved(photo(), "JPEG", **options)).pixels.astype(int) - photo()).max() < 12


@loop_over("orientation", range(1, 9))
@loop_over("kind", [*LOSSLESS, "JPEG"])
def test_what_a_camera_held_askew_comes_out_upright(kind: str, orientation: int) -> None:
    across = photo().swapaxes(0, 1)
    stored = {  # EXIF defines the positions of row 0 and column 0: top left, top right, bottom right …
        1: photo(), 2: photo()[:, ::-1], 3: photo()[::-1, ::-1], 4: photo()[::-1],
        5: across, 6: across[::-1], 7: across[::-1, ::-1], 8: across[:, ::-1],
    }[orientation]  # fmt: skip
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    found = open_picture(saved(np.ascontiguousarray(stored), kind, exif=exif)).pixels
    assert found.shape == photo().shape
    assert np.abs(found.astype(int) - photo()).mean() <= (4 if kind == "JPEG" else 0)


def test_what_else_a_photo_tells_stays_behind() -> None:
    exif = Image.Exif()
    exif[0x010E], exif[0x0132] = "my house", "2026:11:22 10:00:00"
    text = PngImagePlugin.PngInfo()
    text.add_text("Author", "somebody")
    plain = open_picture(saved(photo(), "PNG"))
    assert open_picture(saved(photo(), "PNG", exif=exif, pnginfo=text)) == plain
    assert set(vars(plain)) <= {"pixels", "key"}


@pytest.mark.parametrize("orientation", [0, 9, 65_535])
def test_an_orientation_that_is_none_is_upright(orientation: int) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    assert np.array_equal(open_picture(saved(photo(), "PNG", exif=exif)).pixels, photo())


def test_broken_exif_spoils_no_picture() -> None:
    for exif in (b"Exif\0\0MM\0*\xff\xff\xff\xff", b"Exif\0\0nothing", b"Exif\0\0II*\0\x08\0\0\0\xff\xff"):
        assert np.array_equal(open_picture(saved(photo(), "PNG", exif=exif)).pixels, photo())


def test_greys_palettes_and_single_bits_become_colours() -> None:
    grey = np.asarray(Image.fromarray(photo()).convert("L"))
    assert np.array_equal(open_picture(saved(grey, "PNG")).pixels, np.repeat(grey[..., None], 3, axis=-1))
    palette = Image.fromarray(photo()).quantize(16)
    assert np.array_equal(open_picture(saved(palette, "PNG")).pixels, np.asarray(palette.convert("RGB")))
    bits = Image.fromarray(grey).point(lambda level: 255 * (level > 100)).convert("1")
    assert set(np.unique(open_picture(saved(bits, "PNG")).pixels)) == {0, 255}
    assert open_picture(saved(grey, "JPEG")).pixels.shape == (40, 56, 3)


def test_sixteen_bits_become_the_higher_eight() -> None:
    levels = np.linspace(0, 65_535, 40 * 56).reshape(40, 56).astype(np.uint16)
    found = open_picture(saved(Image.fromarray(levels), "PNG")).pixels
    assert np.array_equal(found[..., 1], (levels >> 8).astype(np.uint8))


def test_inks_become_colours() -> None:
    found = open_picture(saved(Image.fromarray(photo()).convert("CMYK"), "JPEG", quality=95)).pixels
    assert np.abs(found.astype(int) - photo()).mean() < 6


@pytest.mark.parametrize("kind", LOSSLESS)
def test_white_shows_through(kind: str) -> None:
    clear = np.concatenate([photo(), np.full((40, 56, 1), 255, np.uint8)], axis=-1)
    clear[:10, :, 3] = 0
    clear[10:20] = (0, 0, 0, 51)  # Black with an opacity of 20 %.
    found = open_picture(saved(clear, kind)).pixels
    assert (found[:10] == 255).all()
    assert (found[10:20] == 204).all()
    assert np.array_equal(found[20:], photo()[20:])


def test_a_transparent_palette_and_a_transparent_colour_are_white() -> None:
    palette = Image.fromarray(photo()).quantize(16)
    first = int(np.asarray(palette)[0, 0])
    found = open_picture(saved(palette, "PNG", transparency=first)).pixels
    assert (found[np.asarray(palette) == first] == 255).all()
    black = Image.fromarray(np.zeros((4, 6, 3), np.uint8))
    assert (open_picture(saved(black, "PNG", transparency=(0, 0, 0))).pixels == 255).all()


@pytest.mark.parametrize("kind", LOSSLESS)
def test_of_what_moves_the_first_frame_is_read(kind: str) -> None:
    later = [Image.fromarray(np.full((40, 56, 3), level, np.uint8)) for level in (0, 255)]
    moving = saved(photo(), kind, save_all=True, append_images=later)
    assert np.array_equal(open_picture(moving).pixels, photo())


def test_a_large_picture_is_made_smaller_in_its_shape() -> None:
    long = open_picture(saved(photo(12, 3_000), "PNG"))
    assert (long.height, long.width) == (8, LONGEST)
    assert open_picture(saved(photo(3_000, 1), "PNG")).pixels.shape == (LONGEST, 1, 3)
    assert open_picture(saved(photo(9, LONGEST), "PNG")).pixels.shape == (9, LONGEST, 3)


def refused(data: bytes) -> str:
    """Return the error message for a file."""
    with pytest.raises(UserError) as caught:
        open_picture(data)
    return caught.value.message


def test_what_is_no_picture_of_the_three_kinds_is_named() -> None:
    assert refused(b"") == "The file is empty. Add a PNG, JPEG or WebP picture."
    for kind in ("GIF", "BMP", "TIFF"):
        assert refused(saved(photo(), kind)).startswith(f"The file is {kind}. Save it as PNG")
    assert refused(b"\0\0\0\x18ftypheic\0\0\0\0").startswith("The file is HEIC.")
    assert "SVG" in refused(b'<svg xmlns="http://www.w3.org/2000/svg"/>')
    for other in (b"hello", b"PK\3\4", b"RIFF\0\0\0\0WAVEfmt ", saved(photo(), "PPM")):
        assert refused(other).startswith("The file is not a PNG, JPEG or WebP")


def png(width: int, height: int, content: bytes = b"") -> bytes:
    """Return an RGB PNG file with this size in its header and any pixel data."""

    def chunk(name: bytes, inner: bytes) -> bytes:
        return struct.pack(">I", len(inner)) + name + inner + struct.pack(">I", zlib.crc32(name + inner))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(content))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + pixels + chunk(b"IEND", b"")


def webp(width: int, height: int) -> bytes:
    """Return a WebP file with this size in its header and a small picture inside."""
    inner = saved(photo(), "WEBP")[12:]
    sizes = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    extended = b"VP8X" + struct.pack("<I", 10) + b"\x02\0\0\0" + sizes
    return b"RIFF" + struct.pack("<I", 4 + len(extended) + len(inner)) + b"WEBP" + extended + inner


def test_a_picture_of_too_many_pixels_is_refused_before_any_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_image: Image.Image) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", never)
    jpeg = saved(photo(), "JPEG")
    start = jpeg.index(b"\xff\xc0")
    huge_jpeg = jpeg[: start + 5] + struct.pack(">HH", 9_000, 9_000) + jpeg[start + 9 :]
    for data, stated in (
        (png(8_000, 8_000), "8,000 × 8,000"),
        (png(MOST_SIDE + 1, 1), "16,384 × 1"),
        (png(1, MOST_SIDE + 1), "1 × 16,384"),
        (png(12_000, 12_000), "far too many"),
        (png(2**31 - 1, 2**31 - 1), "far too many"),
        (huge_jpeg, "9,000 × 9,000"),
        (webp(16_383, 16_383), "far too many"),
    ):
        assert refused(data) == (
            f"The picture has {stated} pixels; the limits are 50 million, and 16,383 along a side. Make it smaller."
        )
    assert MOST_PIXELS == 50_000_000


def test_a_file_of_too_many_bytes_is_refused() -> None:
    assert refused(saved(photo(), "PNG") + bytes(MOST_BYTES)) == (
        "The picture has 30 MB; the limit is 30. Save it smaller."
    )


def test_a_small_file_does_not_stand_for_endless_passes() -> None:
    jpeg = saved(photo(), "JPEG", progressive=True)
    scan = jpeg[jpeg.rindex(b"\xff\xda") : -2]
    assert refused(jpeg[:-2] + scan * MOST_SCANS + jpeg[-2:]).startswith("This JPEG has over 40")


@loop_over("kind", ["PNG", "JPEG", "WEBP"])
@loop_over("part", [0.1, 0.5, 0.95])
def test_a_file_that_was_cut_short_is_refused(kind: str, part: float) -> None:
    noise = np.random.default_rng(3).integers(0, 256, (60, 80, 3), np.uint8)
    data = saved(noise, kind)
    assert refused(data[: int(len(data) * part)]) == (f"This {kind} picture is damaged or incomplete. Save it again.")


def test_more_or_fewer_pixels_than_stated_are_no_harm() -> None:
    assert "damaged or incomplete" in refused(png(500, 500, bytes(600)))
    assert open_picture(png(5, 5, bytes(10**6))).pixels.shape == (5, 5, 3), (
        "a bomb is not unpacked further than it is stated"
    )


def test_memory_that_runs_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_image: Image.Image) -> Image.Image:
        raise MemoryError

    monkeypatch.setattr(image_files, "_to_rgb", full)
    assert refused(saved(photo(), "PNG")) == OUT_OF_MEMORY


def whole() -> dict[str, bytes]:
    """Return files of every accepted format with their optional features, by name."""
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    clear = Image.fromarray(photo()).convert("RGBA")
    lossy = BytesIO()
    clear.save(lossy, "WEBP", quality=60)
    return {
        "png": saved(photo(), "PNG", exif=exif),
        "palette": saved(Image.fromarray(photo()).quantize(16), "PNG", transparency=3),
        "moving png": saved(clear, "PNG", save_all=True, append_images=[clear.rotate(90)]),
        "jpeg": saved(photo(), "JPEG", exif=exif),
        "progressive": saved(photo(), "JPEG", progressive=True),
        "webp": saved(photo(), "WEBP", exif=exif),
        "lossy webp": lossy.getvalue(),
        "moving webp": saved(clear, "WEBP", save_all=True, append_images=[clear.rotate(90)]),
    }


@loop_over("name", whole())
def test_whatever_is_harmed_is_a_picture_or_a_refusal(name: str) -> None:
    data = whole()[name]
    random = np.random.default_rng(7)
    for _ in range(300):
        harmed = bytearray(data)
        # Headers are in the first bytes, so damage is concentrated there.
        for at in (random.random(random.integers(1, 6)) ** 2 * len(harmed)).astype(int):
            harmed[at] = random.integers(0, 256)
        if random.random() < 0.2:
            del harmed[random.integers(0, len(harmed)) :]
        try:
            assert max(open_picture(bytes(harmed)).pixels.shape) <= LONGEST
        except UserError as refusal:
            assert refusal.message.endswith(".")  # noqa: PT017  # some are read, others refused
