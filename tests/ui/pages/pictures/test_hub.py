"""Vision models of the hub on the Pictures page: listing, download, attention and outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from inference import LocalBackend
from inference.pictures.sample_picture import photo
from inference.settings import Settings
from inference.tasks.picture_outputs import PictureLabels, PictureTexts
from tests.support.asking import asked, notes, press, says
from tests.support.fakehub import FakeHub, serving
from tests.support.picturemodels import save, save_judge, sight
from tests.ui.pages.pictures.test_ablation import views
from ui.run import services
from ui.run.downloading import RUNNING
from ui.show.text import escape_markdown

pytestmark = pytest.mark.slow

CLIP, VIT = "openai/clip-vit-base-patch32", "google/vit-base-patch16-224"
NAMES = {0: "tabby", 1: "dog", 2: "<b>street</b>", 3: "none"}
LONGEST = 60  # This is a time limit in seconds for a download from localhost.


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeHub]:
    root = tmp_path_factory.mktemp("hub")
    with serving() as fake:
        fake.add(CLIP, save(sight("CLIP"), root / "clip"))
        fake.add(VIT, save_judge(sight("ViT"), root / "vit", NAMES))
        yield fake


@pytest.fixture
def backend(hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalBackend]:
    settings = Settings(endpoint=hub.endpoint, cache=tmp_path / "cache", hub_timeout=20.0)
    monkeypatch.setattr(Settings, "from_env", classmethod(lambda _cls: settings))
    services.get_backend.cache_clear()
    yield services.get_backend()
    services.get_backend.cache_clear()


def downloaded(name: str) -> AppTest:
    """Return the Pictures page after the selection and download of a model."""
    page = asked("pictures")
    (box,) = (box for box in page.selectbox if box.label == "Image model")
    box.select(name).run()
    says(page, f"{name} is an encoder")
    (button,) = (button.label for button in page.button if button.label.startswith("Download"))
    press(page, button)
    if RUNNING in page.session_state:
        for download in list(page.session_state[RUNNING].values()):
            assert download.wait(LONGEST)
    page.run()
    assert not page.exception
    return page


def test_clip_is_downloaded_and_says_how_well_texts_fit(backend: LocalBackend) -> None:
    page = downloaded(CLIP)
    (view,) = views(page)
    assert [other["name"] for other in view["others"]] == ["[CLS]"]
    assert (view["layers"], view["heads"], view["values"]) == (2, 3, True)
    texts = ("the cat", "street")
    page = asked("pictures", vision=CLIP, show="says", texts="\n".join(texts))
    said = backend.predict(PictureTexts(model=CLIP, picture=photo(), texts=texts))
    (image,) = page.get("image")
    assert f"of “{said.likeliest(1)[0][0]}”" in image.proto.imgs[0].caption
    (words,) = (one.proto for one in page.get("bidi_component") if one.proto.component_name == "headlight_strip")
    pieces = [chip["text"] for chip in json.loads(words.json)["chips"]]
    assert [piece for piece in pieces if piece in "the cat street"]
    assert not notes(page, "refusal")


def test_vit_is_downloaded_and_says_what_is_in_the_picture(backend: LocalBackend) -> None:
    page = downloaded(VIT)
    assert len(views(page)) == 1
    page = asked("pictures", vision=VIT, show="says")
    said = backend.predict(PictureLabels(model=VIT, picture=photo()))
    assert said.names == tuple(NAMES.values())
    (image,) = page.get("image")
    assert f"of “{escape_markdown(said.likeliest(1)[0][0])}”" in image.proto.imgs[0].caption
    assert not notes(page, "refusal")
