"""Tests of the picture view's payload and its standalone file; browser tests check the drawing."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

import numpy as np
import pytest

from attention.agreement import mean_maps, rollout, with_residual
from attention.codec import decode_frame, from_sqrt8
from attention.pictures import Grid, Picture
from tests.support.repository import ROOT
from tests.support.seen import TOKENS, picture_trace
from tests.support.traces import sentence_trace
from viz.components.picture.content import (
    FACINGS,
    KINDS,
    LONGEST,
    PictureSelection,
    dim_patches,
    encode_map,
    grid_and_picture,
    head_map,
    in_every_head,
    kind_of_photo,
    part_of,
    payload,
    photo,
    picture_html,
    rollout_map,
    selected_weights,
)

LOOK = PictureSelection(1, 2, 4)
TRACE = picture_trace()


def test_the_payload_has_the_fields_that_the_script_reads() -> None:
    source = (ROOT / "viz" / "components" / "picture" / "picture.js").read_text(encoding="utf-8")
    stated = re.search(r"@typedef \{object\} PictureData\b.*?\*/", source, re.DOTALL)
    assert stated
    sides = re.sub(r"\{(?:[^{}]|\{[^{}]*\})*\}", "", stated[0])
    # The script adds the words, and a static site the source.
    fields = set(re.findall(r"@property\s+\[?(\w+)", sides)) - {
        "words",
        "source",
    }  # the source is added by a static site
    assert set(payload(TRACE, LOOK, "", [])) == fields
    kept = re.search(r"typedef \{\{(layer: .*?)\}\} Kept", source)
    assert kept
    assert set(payload(TRACE, LOOK, "", [])["selection"]) == set(re.findall(r"(\w+): ", kept[1]))
    assert all(f'"{name}"' in kept[1] for name in (*FACINGS, *KINDS))


def test_it_says_where_patches_are_and_names_what_has_none() -> None:
    data = payload(TRACE, LOOK, "A square", [("model", "tiny")], "/trace/x", "seal=y")
    assert data["grid"] == {"rows": 3, "columns": 5, "start": 2, "box": [5 / 40, 0.0, 35 / 40, 1.0]}
    assert data["others"] == [{"at": 0, "name": "[CLS]"}, {"at": 1, "name": "[register 1]"}]
    assert (data["layers"], data["heads"], len(data["tokens"])) == (2, 3, TOKENS)
    assert json.loads(json.dumps(data)) == data


def test_a_text_has_no_picture() -> None:
    with pytest.raises(ValueError, match="no picture"):
        grid_and_picture(sentence_trace())


def test_a_small_photo_loses_nothing_and_a_large_one_is_no_larger_than_a_screen() -> None:
    from io import BytesIO

    from PIL import Image

    small = photo(grid_and_picture(TRACE)[1])
    assert kind_of_photo(small) == "image/png"
    np.testing.assert_array_equal(np.asarray(Image.open(BytesIO(small))), grid_and_picture(TRACE)[1].pixels)
    large = photo(Picture(np.zeros((1000, 2000, 3), np.uint8)))
    assert kind_of_photo(large) == "image/jpeg"
    assert Image.open(BytesIO(large)).size == (LONGEST, LONGEST // 2)


def test_a_still_is_bright_where_the_weights_are_and_dim_outside() -> None:
    from io import BytesIO

    from PIL import Image

    white = Picture(np.full((24, 40, 3), 255, np.uint8))
    grid, weights = grid_and_picture(TRACE)[0], np.zeros(TOKENS, np.float32)
    weights[grid.token(1, 2)] = 0.5
    shown = np.asarray(Image.open(BytesIO(dim_patches(white, grid, weights))))
    left, top, right, bottom = map(int, grid.pixels(grid.token(1, 2)) or ())
    assert (shown[top:bottom, left:right] == 255).all()
    shown = shown.copy()
    shown[top:bottom, left:right] = 43
    left, top, right, bottom = map(int, grid.box)
    assert (shown[top:bottom, left:right] == 43).all()
    shown[top:bottom, left:right] = 0
    outside = np.count_nonzero(shown.any(axis=2))
    assert outside == 24 * 40 - (bottom - top) * (right - left) > 0
    assert set(np.unique(shown)) == {0, 43, 43 + round(0.25 * (255 - 43))}  # dark and hatched


def test_a_padded_picture_is_whole() -> None:
    from io import BytesIO

    from PIL import Image

    white = Picture(np.full((24, 40, 3), 255, np.uint8))
    grid = Grid(2, 2, 0, (-10, -6, 50, 30))
    shown = np.asarray(Image.open(BytesIO(dim_patches(white, grid, np.ones(4, np.float32)))))
    assert shown.shape == (24, 40, 3)
    assert (shown == 255).all()


def test_the_rollout_is_that_of_the_mean_maps() -> None:
    rolled = rollout_map(TRACE.records())
    np.testing.assert_allclose(rolled, rollout(with_residual(mean_maps(TRACE))), atol=1e-6)
    np.testing.assert_allclose(rolled.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("facing", FACINGS)
@pytest.mark.parametrize("by", KINDS)
def test_the_selected_weights_are_those_of_the_view(facing: str, by: str) -> None:
    records = TRACE.records()
    if by == "rollout":
        rolled = rollout_map(records)
        wanted = rolled[4] if facing == "out" else rolled[:, 4]
    else:
        wanted = in_every_head(records, facing, 4, by)[1, 2]
    np.testing.assert_allclose(selected_weights(TRACE, PictureSelection(1, 2, 4, facing, by)), wanted, rtol=1e-6)


def test_a_map_travels_as_square_root_bytes() -> None:
    weights = head_map(TRACE.records(), 1, 2)
    np.testing.assert_array_equal(weights, TRACE.weights(1, 2))
    np.testing.assert_allclose(decode_frame(encode_map(weights))[1]["map"], weights, atol=4e-3)


def test_weights_by_values_are_shares_and_tell_long_values_from_short() -> None:
    records = TRACE.records()
    found = head_map(records, 1, 2, "norms")
    raw = TRACE.weights(1, 2) * np.linalg.norm(TRACE.value(1, 2), axis=1)
    np.testing.assert_allclose(found, raw / raw.sum(axis=1, keepdims=True), rtol=1e-5)
    for by in ("head", "norms"):
        whole = np.stack([[head_map(records, layer, head, by) for head in range(3)] for layer in range(2)])
        np.testing.assert_allclose(in_every_head(records, "out", 4, by), whole[:, :, 4], rtol=1e-6)
        np.testing.assert_allclose(in_every_head(records, "in", 4, by), whole[:, :, :, 4], rtol=1e-6)


def embedded(page: str) -> dict[str, Any]:
    found = re.search(r'id="embedded">(.*?)</script>', page)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def unpacked(packed: dict[str, Any]) -> Any:
    coded = np.frombuffer(zlib.decompress(base64.b64decode(packed["data"])), np.uint8)
    return from_sqrt8(coded.reshape(packed["shape"]))


@pytest.mark.parametrize("look", [LOOK, PictureSelection(0, 0, 3, "in", "rollout")])
def test_a_file_holds_the_photo_and_the_maps(look: PictureSelection) -> None:
    page = picture_html(TRACE, look, "<b>A square", [("text", "<i>")])
    assert "<b>" not in page
    assert "<i>" not in page
    inside = embedded(page)["inside"]
    assert inside["photo"].startswith("data:image/png;base64,")
    np.testing.assert_allclose(unpacked(inside["maps"]["head.1.2"]), TRACE.weights(1, 2), atol=4e-3)
    assert len(inside["maps"]) == 6 + (look.by == "rollout")
    np.testing.assert_allclose(unpacked(inside["every"]["head.out.1"]), TRACE.rows(1), atol=4e-3)
    if look.facing == "in":
        columns = np.stack([[one.weights(head)[:, 3] for head in range(3)] for one in TRACE.records(part_of(TRACE))])
        np.testing.assert_allclose(unpacked(inside["every"]["head.in.3"]), columns, atol=4e-3)


def test_a_file_of_many_patches_has_the_chosen_head_and_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.components.picture.content.ROOM", 900)
    maps = embedded(picture_html(TRACE, LOOK, "", []))["inside"]["maps"]
    assert "head.1.2" in maps
    assert len(maps) < 6
