"""Pictures with a planted white square: the patches under the square are the tokens whose queries change.

The processors are those of published models; the models have a single layer with random weights, so that a token's
query changes if and only if a pixel of its own patch changes. The tests cover processor, crop, patches,
interpolated position embeddings, the recorded trace, and the grid that maps tokens to pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention.pictures import Grid, Picture
from inference import LocalBackend, TraceRequest
from inference.files.dinov2 import PREPARED
from inference.settings import Settings
from tests.support.picturemodels import Sight, save

PICTURES = 20  # The number of pictures per case.
SUPPORT = 2  # The reach of a cubic kernel to either side, in pixels of the larger scale.
SHORTEST, LONGEST = 90, 420

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Case:
    """A published model reduced to a small layer; ``side`` is the longer side of a whole picture."""

    name: str
    model_type: str
    image: int
    patch: int
    processor: dict[str, Any]
    side: int | None = None

    @property
    def sight(self) -> Sight:
        """Return the case as a row of the table of families."""
        config = {"hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 32,
                  "image_size": self.image, "patch_size": self.patch}  # fmt: skip
        return Sight(self.name, self.model_type, (), self.processor, config)


def square(kind: str, side: int, resample: int, **others: Any) -> dict[str, Any]:
    """Return the settings of a processor that resizes pictures to a square."""
    return {"image_processor_type": kind, "size": {"height": side, "width": side}, "resample": resample, **others}


MIDDLE = {"do_center_crop": True, "crop_size": {"height": 224, "width": 224}}
VIT = square("ViTImageProcessor", 224, 2)
CLIP = {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 224}, "resample": 3, **MIDDLE}
CASES = [
    Case("ViT-B/16, squashed", "vit", 224, 16, VIT),
    Case("ViT-B/32 at 384, squashed", "vit", 384, 32, square("ViTImageProcessor", 384, 2)),
    Case("ViT-B/16, whole", "vit", 224, 16, VIT, side=320),
    Case("DeiT-B/16, squashed and cropped", "deit", 224, 16, square("DeiTImageProcessor", 256, 3, **MIDDLE)),
    Case("DINOv2-S/14, cropped", "dinov2", 518, 14, PREPARED),
    Case("DINOv2-S/14, whole", "dinov2", 518, 14, PREPARED, side=280),
    Case("DINOv2-S/14, whole and small", "dinov2_with_registers", 518, 14, PREPARED, side=126),
    Case("SigLIP-B/16, squashed", "siglip_vision_model", 224, 16, square("SiglipImageProcessor", 224, 3)),
    Case("CLIP-B/32, cropped", "clip_vision_model", 224, 32, CLIP),
    Case("CLIP-B/16, whole", "clip_vision_model", 224, 16, CLIP, side=288),
]


@dataclass(frozen=True)
class Planted:
    """A dark picture, its copy with a white square, and the square (left, top, right, bottom) in pixels."""

    plain: Picture
    marked: Picture
    box: tuple[int, int, int, int]


def dark(random: np.random.Generator) -> Picture:
    """Return a dark picture of random size and shape."""
    rows, columns = random.integers(SHORTEST, LONGEST, 2)
    return Picture(random.integers(0, 90, (rows, columns, 3), dtype=np.uint8))


def planted(plain: Picture, target: Box, reach: tuple[float, float], random: np.random.Generator) -> Planted:
    """Plant a square of at least one pixel inside ``target``, away from the target's edges if there is room."""
    across = span(target[0], target[2], reach[0], plain.width, random)
    down = span(target[1], target[3], reach[1], plain.height, random)
    pixels = plain.pixels.copy()
    pixels[slice(*down), slice(*across)] = 255
    return Planted(plain, Picture(pixels), (across[0], down[0], across[1], down[1]))


def span(low: float, high: float, reach: float, end: int, random: np.random.Generator) -> tuple[int, int]:
    """Return a random half-open range of pixels between two edges, if possible ``reach`` away from both."""
    first, last = int(np.ceil(low + reach)), int(np.floor(high - reach))
    if last - first < 1:  # Without room, use the pixel in the middle.
        first = min(max(int((low + high) / 2), 0), end - 1)
        return first, first + 1
    begin = int(random.integers(first, last))
    return begin, int(random.integers(begin + 1, last + 1))


def overlap(one: Box, other: Box) -> bool:
    """Return True if two boxes share more than an edge."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def box_of(grid: Grid, token: int) -> Box:
    """Return the pixels of a patch."""
    found = grid.pixels(token)
    assert found is not None
    return found


def given(case: Case, folder: Path, picture: Picture) -> TraceRequest:
    """Return the trace request for a picture."""
    return TraceRequest(model=str(folder), picture=picture, side=case.side)


def changed(backend: LocalBackend, one: TraceRequest, other: TraceRequest) -> set[int]:
    """Return the tokens whose queries differ between two requests."""
    queries = [backend.trace(request).parts["encoder"][0].query for request in (one, other)]  # type: ignore[union-attr]
    return set(np.flatnonzero(np.abs(queries[0] - queries[1]).max(axis=(0, 2)) > 1e-5).tolist())


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_patch_under_the_square_is_the_one_that_saw_it(tmp_path: Path, case: Case) -> None:
    folder = save(case.sight, tmp_path / "model")
    backend = LocalBackend(Settings(model_folders=(tmp_path,)))
    eye = backend.loaded(str(folder), None).eye
    assert eye is not None
    random = np.random.default_rng(CASES.index(case))
    alone = 0
    for _ in range(PICTURES):
        plain = dark(random)
        grid = eye.read(plain, case.side).reading.row.grid
        assert grid is not None
        token = int(random.integers(grid.start, grid.start + len(grid)))
        target = box_of(grid, token)
        scale = (target[2] - target[0]) / case.patch, (target[3] - target[1]) / case.patch
        reach = tuple(SUPPORT * max(1.0, one) + 1 for one in scale)
        marked = planted(plain, target, (reach[0], reach[1]), random)
        left, top, right, bottom = marked.box
        near = (left - reach[0], top - reach[1], right + reach[0], bottom + reach[1])
        may = {at for at in range(grid.start, grid.start + len(grid)) if overlap(box_of(grid, at), near)}
        seen = changed(backend, given(case, folder, plain), given(case, folder, marked.marked))
        assert token in seen, (plain.pixels.shape, token, marked.box)
        assert seen <= may, (plain.pixels.shape, token, marked.box)
        alone += seen == {token}
    assert alone > PICTURES / 2, "most squares lie so far inside of a patch that no other patch has anything of it"


@pytest.mark.parametrize("case", [case for case in CASES if "cropped" in case.name], ids=lambda case: case.name)
def test_what_is_cropped_away_no_patch_sees(tmp_path: Path, case: Case) -> None:
    folder = save(case.sight, tmp_path / "model")
    backend = LocalBackend(Settings(model_folders=(tmp_path,)))
    random = np.random.default_rng(3)
    for rows, columns in ((150, 400), (400, 150)):
        plain = Picture(random.integers(0, 90, (rows, columns, 3), dtype=np.uint8))
        grid = backend.trace(given(case, folder, plain)).source.grid
        assert grid is not None
        pixels = plain.pixels.copy()
        left, top = (max(0, int(edge) - 5) for edge in grid.box[:2])
        pixels[:top] = 255
        pixels[:, :left] = 255
        assert (pixels != plain.pixels).any()
        assert changed(backend, given(case, folder, plain), given(case, folder, Picture(pixels))) == set()
