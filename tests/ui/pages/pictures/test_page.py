"""The Pictures page without a browser: sample, uploads, links, files and retention."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers
from PIL import Image
from streamlit.testing.v1 import AppTest

from attention.pictures import Picture
from attention.storage import dump
from i18n import translate
from inference import LocalBackend
from inference.files.packages import MAKE
from inference.pictures.sample_picture import sample
from inference.task_heads import SEES, WHAT
from tests.support.asking import allowed, asked, go, notes, press, says, uploader
from tests.support.cases import loop_over
from tests.support.picturemodels import save, sight
from tests.support.seen import picture_trace
from ui.pages.pictures import figures, source
from ui.pages.pictures.options import ASKING, SHOWS, PicturesOptions
from ui.pages.pictures.source import GIVE_AGAIN, GIVEN, read_picture
from ui.run.services import get_trace_store
from ui.show.top_bar import UPLOAD
from ui.show.why_head import KEY, TRAIL
from viz.components.picture.content import selected_weights

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalBackend]:
    root = tmp_path_factory.mktemp("models")
    save(sight("DINOv2 with registers"), root / "registers")
    save(sight("SigLIP, vision"), root / "siglip")
    save(sight("CLIP"), root / "clip")
    _with_classes(root / "classes")
    with allowed(root) as backend:
        yield backend


def _with_classes(folder: Path) -> None:
    row = save(sight("ViT"), folder)
    config = transformers.AutoConfig.from_pretrained(row, id2label={0: "cat", 1: "*dog*", 2: "<b>street</b>"})
    transformers.AutoModelForImageClassification.from_config(config).save_pretrained(folder)


def model(backend: LocalBackend, name: str) -> str:
    return str(backend.settings.model_folders[0] / name)


def drawn(page: AppTest) -> dict[str, Any]:
    """Return the data of the picture component."""
    assert not page.exception
    (part,) = (one.proto for one in page.get("bidi_component") if one.proto.component_name == "headlight_picture")
    data: dict[str, Any] = json.loads(part.json)
    return data


def file(kind: str = "PNG", rows: int = 30, columns: int = 50) -> bytes:
    pixels = np.random.default_rng(1).integers(0, 256, (rows, columns, 3), dtype=np.uint8)
    made = BytesIO()
    Image.fromarray(pixels).save(made, kind)
    return made.getvalue()


def bring(page: AppTest, content: bytes, name: str = "mine.png") -> AppTest:
    uploader(page, "picture_file").upload(name, content, "image/png").run()
    return page


def test_the_sample_is_there_without_any_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "at_hand", dict)  # The empty dictionary simulates missing extra models.
    page = asked("pictures")
    data = drawn(page)
    assert data["base"].endswith(sample().id)
    assert data["selection"]["token"] == 0
    assert data["title"] == "A cat"
    assert "CC0" in " ".join(caption.value for caption in page.caption)
    assert [code.value for code in page.code] == [MAKE]


@pytest.mark.parametrize("is_open", [False, True])
def test_an_open_menu_alone_computes_the_notebook(monkeypatch: pytest.MonkeyPatch, is_open: bool) -> None:
    computed = []

    def keep(*arguments: Any) -> Any:
        computed.append(arguments)
        return selected_weights(*arguments)

    monkeypatch.setattr(figures, "selected_weights", keep)
    page = asked("pictures", by="rollout")
    assert not page.exception
    assert not computed
    if is_open:
        page.session_state["picture_download"] = True
        page.run()
        assert not page.exception
        assert len(computed) == 1


@pytest.mark.parametrize("show", SHOWS)
def test_every_view_without_a_model_shows_one_command(monkeypatch: pytest.MonkeyPatch, show: str) -> None:
    monkeypatch.setattr(source, "at_hand", dict)
    page = asked("pictures", show=show)
    assert not page.exception
    assert [code.value for code in page.code] == [MAKE]
    works = [note for note in notes(page) if translate(SHOWS["links"]) in note]
    assert bool(works) == (show in ASKING), "a view that needs a model names those that do not"


@pytest.mark.parametrize("reach", [False, True])
def test_an_upload_without_a_model_shows_sample_and_command(monkeypatch: pytest.MonkeyPatch, reach: bool) -> None:
    monkeypatch.setattr(source, "at_hand", dict)
    monkeypatch.setattr(source, "hub_in_reach", lambda: reach)
    monkeypatch.setattr(source, "default_model", lambda: "nobody/no-such-model")
    reads: list[str] = []

    def read(options: PicturesOptions, picture: Picture, model: str) -> None:
        reads.append(model)
        read_picture(options, picture, model)

    monkeypatch.setattr(source, "read_picture", read)
    page = bring(asked("pictures"), file())
    assert drawn(page)["title"] == "A cat"
    assert [code.value for code in page.code] == [MAKE]
    wanted = [f"{source.WAITS} {source.NO_MODEL}", *([str(source.OR_DOWNLOAD)] if reach else [])]
    assert [*notes(page, "refusal"), *notes(page)] == wanted
    assert not any("Use the embedded" in button.label for button in page.button)
    assert bool(reads) == reach, "a hub that is not in reach is not asked"


def test_a_link_keeps_what_is_chosen_and_forgets_what_is_not_there() -> None:
    data = drawn(asked("pictures", of_layer=3, of_head=2, token=40, look="in", shown="rollout"))
    assert data["selection"] == {"layer": 3, "head": 2, "token": 40, "facing": "in", "by": "rollout"}
    other = drawn(asked("pictures", of_layer=12, of_head=0, token=257))["selection"]
    assert other["layer"] < 12
    assert other["token"] == 0


def test_matrix_and_lines_are_as_for_a_text() -> None:
    page = asked("pictures", show="matrix", of_layer=3, of_head=2)
    assert not page.exception
    (part,) = (one.proto for one in page.get("bidi_component") if one.proto.component_name == "headlight_explore")
    assert json.loads(part.json)["selection"]["layer"] == 3
    assert page.query_params.get("layer") is None, "the text of other pages keeps its own head"


def test_a_brought_picture_is_read_by_the_chosen_model(backend: LocalBackend) -> None:
    page = bring(asked("pictures", vision=model(backend, "registers")), file())
    data = drawn(page)
    assert data["title"] == "Your image"
    assert data["picture"] == {"width": 50, "height": 30}
    assert [other["name"] for other in data["others"]] == ["[CLS]", "[register 1]", "[register 2]"]
    assert page.query_params["given"][0] in Picture(np.asarray(Image.open(BytesIO(file())))).key
    press(page, "Show sample")
    assert drawn(page)["title"] == "A cat"
    assert GIVEN not in page.session_state


def test_a_model_without_cls_begins_at_the_middle(backend: LocalBackend) -> None:
    data = drawn(bring(asked("pictures", vision=model(backend, "siglip")), file()))
    grid = data["grid"]
    assert data["others"] == []
    assert data["selection"]["token"] == grid["rows"] // 2 * grid["columns"] + grid["columns"] // 2


def test_nothing_of_a_brought_picture_stays_with_the_backend(backend: LocalBackend) -> None:
    page = bring(asked("pictures", vision=model(backend, "registers")), file(rows=31))
    key = drawn(page)["base"].rsplit("/", 1)[-1]
    assert get_trace_store().find(key) is not None
    assert backend.recent(key) is None
    press(page, "Show sample")
    del page
    gc.collect()
    assert get_trace_store().find(key) is None


def test_texts_are_compared_with_the_picture_and_what_the_best_rests_on_is_shown(backend: LocalBackend) -> None:
    page = asked("pictures", vision=model(backend, "clip"), show="says", texts="the cat\n street \n\nstreet")
    assert not page.exception
    assert [area.label for area in page.text_area] == ["One per line"]
    (chart,) = page.get("plotly_chart")
    assert json.loads(chart.proto.spec)["layout"]["title"]["text"] == "Text match"
    assert len(json.loads(chart.proto.spec)["data"][0]["y"]) == 2
    (image,) = page.get("image")
    assert "Attribution of" in image.proto.imgs[0].caption
    assert "headlight_strip" in [part.proto.component_name for part in page.get("bidi_component")]


def test_classes_are_told_and_their_names_are_text(backend: LocalBackend) -> None:
    page = asked("pictures", vision=model(backend, "classes"), show="says")
    assert not page.exception
    assert not page.text_area
    (chart,) = page.get("plotly_chart")
    assert "&lt;b&gt;" in chart.proto.spec
    (image,) = page.get("image")
    assert "<b>" not in image.proto.imgs[0].caption.replace("\\<", "")


def test_a_recording_and_a_model_without_classes_say_so(backend: LocalBackend) -> None:
    says(asked("pictures", show="says"), translate(source.RECORDING))
    says(asked("pictures", vision=model(backend, "registers"), show="says"), WHAT[SEES])


def test_what_is_no_picture_is_refused_in_a_sentence() -> None:
    page = bring(asked("pictures"), b"GIF89a")
    assert "Save it as PNG, JPEG or WebP" in " ".join(notes(page, "refusal"))
    assert drawn(page)["title"] == "A cat"


def test_a_refused_file_replaces_the_picture_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "at_hand", dict)
    monkeypatch.setattr(source, "hub_in_reach", lambda: False)
    page = bring(bring(asked("pictures"), file()), b"GIF89a", "other.png")
    assert "Save it as PNG, JPEG or WebP" in " ".join(notes(page, "refusal"))
    assert drawn(page)["title"] == "A cat"
    assert "given" not in page.query_params
    assert not any(str(source.WAITS) in note for note in notes(page))


def test_a_link_to_a_brought_picture_asks_for_it_again() -> None:
    page = asked("pictures", given="0123456789ab")
    assert notes(page)[0] == str(GIVE_AGAIN)
    assert drawn(page)["title"] == "A cat"


def test_a_text_model_says_that_it_reads_no_pictures() -> None:
    page = asked("pictures", vision="all-MiniLM-L6-v2")
    assert not page.exception
    assert len(notes(page, "refusal")) == 1


def test_a_saved_trace_of_a_picture_is_opened_here_and_nowhere_else() -> None:
    page = asked("explore")
    page.file_uploader(key=UPLOAD).upload("trace.safetensors", dump(picture_trace()), "application/octet-stream").run()
    assert not page.exception
    assert page.query_params.get("opened") is None
    says(page, "a picture.")
    go(page, "pictures")
    assert drawn(page)["title"] == "Your image"
    press(page, "Show sample")
    assert drawn(page)["title"] == "A cat"


@loop_over("page", ["explore", "step_by_step", "positions", "vectors", "agreement", "bertviz_views"])
def test_other_pages_say_that_a_file_is_of_a_picture(page: str) -> None:
    held = get_trace_store().add_picture_trace(picture_trace(id="file-held"))
    shown = asked(page, opened=held.id)
    assert not shown.exception
    says(shown, "Image attention")


@pytest.mark.parametrize("page", ["explore", "positions", "measure", "tokens"])
def test_other_pages_say_that_a_model_reads_pictures(backend: LocalBackend, page: str) -> None:
    shown = asked(page, model=model(backend, "registers"))
    assert not shown.exception
    assert "reads pictures" in " ".join(notes(shown, "refusal"))


def test_where_another_model_answers_the_page_says_that_the_chosen_one_reads_pictures(backend: LocalBackend) -> None:
    shown = asked("translate", model=model(backend, "registers"))
    assert not shown.exception
    says(shown, "reads pictures")


def test_the_matrix_explains_the_score_of_its_link(backend: LocalBackend) -> None:
    given = {"show": "matrix", "of_layer": 1, "of_head": 2, "token": 5, "to_token": 9}
    page = asked("pictures", vision=model(backend, "registers"), **given)
    page.session_state[KEY] = True
    page.run()
    assert not page.exception
    (said,) = (note for note in notes(page) if "1-2" in note and re.search(r"[+-]\d\.\d\d", note))
    (trail,) = (group for group in page.button_group if group.key == TRAIL)
    layer, head = re.findall(r"(\d+)-(\d+)", trail.options[0])[0]
    trail.set_value(trail.options[0]).run()
    assert not page.exception
    assert (page.query_params["of_layer"], page.query_params["of_head"]) == (layer, head)
    assert said not in notes(page)
