"""Tools of the Pictures page: two regions, roles of heads, and comparisons."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention.patch_roles import PATCH_ROLES, region_links, tokens_of
from attention.view import View
from i18n import translate
from inference import LocalBackend
from inference.pictures.sample_picture import sample
from tests.support.asking import allowed, asked, notes, press, says, uploader
from tests.support.picturemodels import save, sight
from tests.ui.pages.pictures.test_ablation import address, model, views
from tests.ui.pages.pictures.test_page import file
from ui.pages.pictures.figures import DRAG
from ui.pages.pictures.source import OTHER, RECORDING

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalBackend]:
    root = tmp_path_factory.mktemp("models")
    save(sight("DINOv2 with registers"), root / "registers")
    save(sight("SigLIP, vision"), root / "siglip")
    with allowed(root) as backend:
        yield backend


def component(page: AppTest, name: str) -> dict[str, Any]:
    assert not page.exception
    (part,) = (one.proto for one in page.get("bidi_component") if one.proto.component_name == name)
    data: dict[str, Any] = json.loads(part.json)
    return data


def test_two_regions_are_asked_about_of_the_recording_too() -> None:
    page = asked("pictures", show="links", region_a="2-3-5-6", region_b="9-9-12-12")
    assert component(page, "headlight_regions")["regions"] == {"one": [2, 3, 5, 6], "other": [9, 9, 12, 12]}
    trace, grid = sample(), sample().source.grid
    assert grid is not None
    found = region_links(View(trace), tokens_of((2, 3, 5, 6), grid), tokens_of((9, 9, 12, 12), grid))
    layer, head = divmod(int(found.beyond.argmax()), found.beyond.shape[1])
    says(page, f"Head {layer}-{head} links A to B most: mean attention {found.weights[layer, head]:.0%}")
    (table,) = page.dataframe
    assert len(table.value) == 8
    assert list(table.value["Difference"]) == sorted(table.value["Difference"], reverse=True)
    assert table.value["Difference"][0] == pytest.approx(float(found.beyond.max()))
    press(page, "Swap regions")
    assert (address(page, "region_a"), address(page, "region_b")) == ("9-9-12-12", "2-3-5-6")
    press(page, "Clear all")
    says(page, translate(DRAG))


def test_regions_that_are_none_and_one_that_holds_everything() -> None:
    says(asked("pictures", show="links", region_a="0-0-99-99", region_b="<b>"), translate(DRAG))
    says(asked("pictures", show="links", region_a="0-0-15-15", region_b="1-1-2-2"), "every patch")


@pytest.mark.parametrize("role", ["neighbours", "alone", "broad"])
def test_roles_of_the_recording(role: str) -> None:
    page = asked("pictures", show="roles", role=role)
    assert not page.exception
    assert len(page.get("plotly_chart")) == 1
    named = next(one.value for one in page.markdown if "- none:" in one.value)
    assert "of 72 heads" in named
    assert len(PATCH_ROLES) >= named.count("\n") >= 1


def test_a_picture_beside_itself_mirrored_and_another_model(backend: LocalBackend) -> None:
    page = asked("pictures", show="beside", vision=model(backend), of_layer=1, of_head=2, token=7)
    one, other = views(page)
    assert one["base"] != other["base"]
    assert one["selection"] == other["selection"]
    assert one["picture"] == other["picture"]
    says(page, "image vectors")
    page = asked(
        "pictures", show="beside", vision=model(backend), beside="model", other_vision=model(backend, "siglip"), token=0
    )
    one, other = views(page)
    assert other["others"] == []
    assert other["selection"]["token"] == 0
    assert "cosine" not in " ".join(notes(page))


def test_another_picture_is_brought_and_forgotten(backend: LocalBackend) -> None:
    page = asked("pictures", show="beside", vision=model(backend), beside="brought")
    page.file_uploader(key=f"{OTHER}_file").upload("a.png", b"GIF89a", "image/png").run()
    assert "Save it as PNG, JPEG or WebP" in " ".join(notes(page, "refusal"))
    page.file_uploader(key=f"{OTHER}_file").upload("b.png", file(rows=40, columns=30), "image/png").run()
    assert np.shape(page.session_state[OTHER].pixels) == (40, 30, 3)
    assert views(page)[1]["picture"] == {"width": 30, "height": 40}
    uploader(page, "picture_file").upload("c.png", file(), "image/png").run()
    press(page, "Show sample")
    assert OTHER not in page.session_state


def test_a_recording_stands_alone() -> None:
    says(asked("pictures", show="beside"), translate(RECORDING))
