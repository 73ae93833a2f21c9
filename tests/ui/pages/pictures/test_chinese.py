"""The page Pictures in Chinese: nothing that it says itself is left in English."""

from __future__ import annotations

from pathlib import Path

import pytest

from i18n import use_language
from tests.support.asking import allowed, asked, press
from tests.support.picturemodels import save, sight
from tests.support.words import english

pytestmark = pytest.mark.slow

BY = "Stéfan van der Walt"  # whose photo it is
STATES: list[dict[str, object]] = [
    {},
    {"show": "matrix"},
    {"shown": "rollout", "look": "in"},
    {"show": "says"},
    {"show": "without"},
    {"show": "roles", "role": "broad"},
    {"show": "links"},
    {"show": "links", "region_a": "2-3-5-6", "region_b": "9-9-12-12"},
    {"show": "links", "region_a": "0-0-15-15", "region_b": "9-9-12-12"},
    {"show": "beside"},
    {"shown": "norms"},
    {"given": "0123456789ab"},
    {"vision": "nobody/nothing", "side": 336},
]


@pytest.mark.parametrize("state", STATES, ids=lambda state: str(state)[:60])
def test_all_is_told(state: dict[str, object]) -> None:
    page = asked("pictures", lang="zh", **state)
    assert english(page, BY, *map(str, state.values())) == []
    assert [title.value for title in page.title] == ["视觉 Transformer 在看哪里？"]


@pytest.mark.parametrize("more", [{}, {"beside": "brought"}, {"beside": "model", "of_layer": 9}])
def test_what_stands_beside_is_told(tmp_path: Path, more: dict[str, object]) -> None:
    save(sight("DINOv2"), tmp_path / "dino")
    with allowed(tmp_path):
        page = asked("pictures", lang="zh", vision=str(tmp_path / "dino"), show="beside", **more)
        assert english(page, BY, str(tmp_path / "dino"), "dino", "Dinov2Model", *map(str, more.values())) == []


def test_a_refused_file_is_told() -> None:
    page = asked("pictures", lang="zh")
    with use_language("zh"):
        page.file_uploader[0].upload("a.png", b"GIF89a", "image/png").run()
    assert english(page, BY) == []


@pytest.mark.parametrize("more", [{}, {"edits": "h0-7,a0-1"}, {"edits": "c1-2-7-0", "looks": 8}, {"watch": "class"}])
def test_what_is_removed_is_told(tmp_path: Path, more: dict[str, object]) -> None:
    save(sight("DINOv2"), tmp_path / "dino")
    with allowed(tmp_path):
        page = asked("pictures", lang="zh", vision=str(tmp_path / "dino"), show="without", token=7, **more)
        if "watch" not in more:
            press(page, "逐个移除每个头")
            press(page, "与随机集合比较")
        assert english(page, BY, str(tmp_path / "dino"), "dino", "Dinov2Model", *map(str, more.values())) == []
