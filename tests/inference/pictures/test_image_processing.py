"""The box of a patch grid, computed from the processor's settings and checked against the real processor."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import AutoConfig

from attention.pictures import Picture
from inference import UserError
from inference.pictures.image_processing import FAMILIES, ImageProcessor, processor
from tests.support.picturemodels import CROPPED, SIGHTS, SMALLER, Sight, gradient, picture, sight


def eye(row: Sight, tmp_path: Path, limit: int = 10_000, **changes: Any) -> ImageProcessor:
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({**row.processor, **changes}))
    config = AutoConfig.for_model(row.model_type, **row.config)
    return ImageProcessor(processor(tmp_path, row.name), row.name, config, limit)


def test_every_family_is_in_the_table() -> None:
    assert {row.model_type for row in SIGHTS} == set(FAMILIES)


def test_every_patch_was_made_from_the_pixels_that_it_names(subtests: pytest.Subtests, tmp_path: Path) -> None:
    """Red encodes the column of a pixel and green its row, so a patch's mean colour gives its origin."""
    for row in SIGHTS:
        found = eye(row, tmp_path)
        for size, side in product([(30, 50), (131, 40), (64, 64), (20, 25)], [None, 57]):
            with subtests.test(family=row.name, size=size, side=side):
                assert_origins(found, size, side)


def assert_origins(found: Any, size: tuple[int, int], side: int | None) -> None:
    """Assert that the mean colour of each patch is that of the pixels that the patch names."""
    seen = found.read(gradient(*size), side)
    mean, std = (np.array(getattr(found.processor, name))[:, None, None] for name in ("image_mean", "image_std"))
    colours = seen.pixels * std + mean
    grid = seen.reading.row.grid
    assert grid is not None
    assert colours.shape[1] - grid.rows * found.patch in range(found.patch)
    for token in range(grid.start, grid.start + len(grid)):
        (row_at, column), (left, top, right, bottom) = grid.place(token), grid.pixels(token)
        down, across = (slice(at * found.patch, (at + 1) * found.patch) for at in (row_at, column))
        right_of, below = colours[0, down, across].mean(), colours[1, down, across].mean()
        assert abs(right_of - (left + right) / 2 / size[1]) < 0.012
        assert abs(below - (top + bottom) / 2 / size[0]) < 0.012


def test_what_is_narrower_than_a_patch_no_patch_has(tmp_path: Path) -> None:
    found = eye(sight("DINOv2"), tmp_path, crop_size={"height": 30, "width": 31})
    grid = found.read(gradient(32, 32)).reading.row.grid
    assert grid is not None
    assert (grid.rows, grid.columns, grid.box) == (7, 7, (0.0, 1.0, 28.0, 29.0))


def test_a_crop_larger_than_the_picture_has_margins_outside_of_it(tmp_path: Path) -> None:
    found = eye(sight("DINOv2"), tmp_path, size={"shortest_edge": 8}, crop_size={"height": 16, "width": 16})
    grid = found.read(gradient(16, 16)).reading.row.grid
    assert grid is not None
    assert grid.box == (-8.0, -8.0, 24.0, 24.0)


@pytest.mark.parametrize("changes", [{}, CROPPED, SMALLER, {"do_resize": False, "do_center_crop": False}])
def test_what_is_made_is_what_the_processor_makes_by_itself(tmp_path: Path, changes: Any) -> None:
    found, shown = eye(sight("CLIP, vision"), tmp_path, **changes), picture(31, 44)
    alone = found.processor(images=shown.pixels, return_tensors="np")["pixel_values"][0]
    np.testing.assert_array_equal(found.read(shown).pixels, alone.astype(np.float32))


@pytest.mark.parametrize("settings", [{"size": 32, "crop_size": 28}, {"size": {"shortest_edge": 32}, "crop_size": 28}])
def test_settings_of_older_files_are_read(tmp_path: Path, settings: Any) -> None:
    old = {**settings, "feature_extractor_type": "CLIPFeatureExtractor", "image_processor_type": None}
    grid = eye(sight("CLIP, vision"), tmp_path, **old).read(picture(40, 60)).reading.row.grid
    assert grid is not None
    assert (grid.rows, grid.columns, grid.box) == (7, 7, (12.5, 2.5, 47.5, 37.5))


def test_settings_inside_a_file_of_another_name(tmp_path: Path) -> None:
    row = sight("CLIP")
    (tmp_path / "processor_config.json").write_text(json.dumps({"image_processor": row.processor}))
    assert processor(tmp_path, row.name).crop_size == row.processor["crop_size"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "has no preprocessor_config.json"),
        ("{", "is damaged"),
        ("[]", "is damaged"),
        ('{"image_processor": 3}', "is damaged"),
        (
            '{"image_processor_type": "EvilImageProcessor", "auto_map": {"AutoImageProcessor": "x.Y"}}',
            "processor Ev",
        ),
        ('{"size": 224}', "processor –"),
        ('{"image_processor_type": "ViTImageProcessor", "size": 1000000}', "has size ="),
        ('{"image_processor_type": "ViTImageProcessor", "size": {"height": -1, "width": 4}}', "has size ="),
        ('{"image_processor_type": "ViTImageProcessor", "size": {"height": "x"}}', "has size ="),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, content: str | None, said: str) -> None:
    if content is not None:
        (tmp_path / "preprocessor_config.json").write_text(content)
    with pytest.raises(UserError, match=said):
        processor(tmp_path, "a/b")


@pytest.mark.parametrize(
    ("shown", "side", "limit", "said"),
    [
        (picture(1, 30_000), None, 10_000, "Pick another"),
        (picture(), 24 * 4, 50, "has 337 tokens; the limit is 50"),
        (picture(), 3000, 10**9, "up to 2,048"),
    ],
)
def test_sizes_that_are_not_read(tmp_path: Path, shown: Picture, side: int, limit: int, said: str) -> None:
    with pytest.raises(UserError, match=said):
        eye(sight("DINOv2"), tmp_path, limit).read(shown, side)


def test_a_rule_of_resizing_that_is_not_known(tmp_path: Path) -> None:
    found = eye(sight("ViT"), tmp_path, size={"longest_edge": 30, "shortest_edge": 20})
    with pytest.raises(UserError, match="unknown rule"):
        found.read(picture())
