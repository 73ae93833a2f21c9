"""Ablation on the Pictures page: heads, edges and patches, their effects, and all heads in turn."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention.edits import Ablate, MaskEdge, MaskKey, pack
from i18n import translate
from inference import LocalBackend, TraceRequest
from inference.pictures.sample_picture import photo
from inference.task_heads import SEES, WHAT
from inference.tasks.picture_outputs import PictureVector
from tests.support.asking import allowed, asked, notes, press, says
from tests.support.picturemodels import save, sight
from tests.support.seen import picture_trace
from ui.ablation.controls import CLEAR
from ui.ablation.edits import count_edits
from ui.pages.pictures.options import describe_edits, place_name
from ui.pages.pictures.source import RECORDING

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalBackend]:
    root = tmp_path_factory.mktemp("models")
    save(sight("DINOv2 with registers"), root / "registers")
    save(sight("CLIP"), root / "clip")
    with allowed(root) as backend:
        yield backend


def model(backend: LocalBackend, name: str = "registers") -> str:
    return str(backend.settings.model_folders[0] / name)


def page_of(backend: LocalBackend, name: str = "registers", **options: object) -> AppTest:
    page = asked("pictures", vision=model(backend, name), show="without", of_layer=1, of_head=2, **options)
    assert not page.exception
    return page


def address(page: AppTest, name: str) -> str:
    """Return a parameter of the address.

    AppTest stores a list if the parameter was read and a string if it was written.
    """
    found = page.query_params[name]
    return found if isinstance(found, str) else found[0]


def views(page: AppTest) -> list[dict[str, Any]]:
    parts = [one.proto for one in page.get("bidi_component") if one.proto.component_name == "headlight_picture"]
    return [json.loads(part.json) for part in parts]


def test_places_are_named_as_the_view_names_them() -> None:
    trace = picture_trace()
    assert [place_name(trace, token) for token in (0, 1, 2, 8)] == [
        "[CLS]", "[register 1]", "row 1, column 1", "row 2, column 2"
    ]  # fmt: skip
    edits = (Ablate(0, 1), MaskKey(0, 2), MaskKey(1, 2), MaskEdge(1, 2, 3, 0))
    assert describe_edits(edits, trace) == (
        "head 0-1 ablated, row 1, column 1 masked, head 1-2: row 1, column 2 → [CLS] masked"
    )


def test_the_head_that_is_shown_is_removed_until_something_is_chosen(backend: LocalBackend) -> None:
    page = page_of(backend)
    own, changed = views(page)
    assert own["base"] != changed["base"]
    assert own["selection"] == changed["selection"]
    edits = ((), (Ablate(1, 2),))
    said = backend.predict(PictureVector(model=model(backend), picture=photo(), edits=edits)).values
    cosine = float(said[0] @ said[1] / np.linalg.norm(said[0]) / np.linalg.norm(said[1]))
    says(page, f"With head 1-2 ablated: cosine to the original {cosine:.4f}")
    assert count_edits((Ablate(1, 2),)) in [caption.value for caption in page.caption]
    press(page, CLEAR)
    assert address(page, "edits") == "-"
    says(page, "Nothing is")
    assert len(views(page)) == 1


def test_a_patch_is_hidden_in_every_layer_and_a_link_is_cut(backend: LocalBackend) -> None:
    page = page_of(backend, token=7, edits="-")
    press(page, "Mask row 1, column 5")
    assert address(page, "edits") == pack([MaskKey(0, 7), MaskKey(1, 7)])
    press(page, "Restore row 1, column 5")
    press(page, "Mask from row 1, column 5")
    assert address(page, "looks") == "7"
    other = page_of(backend, token=0, looks=7, edits="-")
    press(other, "Mask row 1, column 5 → [CLS]")
    assert address(other, "edits") == pack([MaskEdge(1, 2, 7, 0)])
    assert "looks" not in other.query_params
    changed = views(other)[1]
    trace = backend.trace(replace(_request(backend), edits=(MaskEdge(1, 2, 7, 0),)))
    assert changed["base"].endswith(trace.id)
    assert trace.records("encoder")[1].weights(2)[7, 0] == 0


def _request(backend: LocalBackend) -> TraceRequest:
    return TraceRequest(model=model(backend), text="", picture=photo())


def test_every_head_is_removed_in_turn_and_chance_beside_it(backend: LocalBackend) -> None:
    page = page_of(backend)
    press(page, "Ablate each head")
    says(page, "Of 6 heads")
    press(page, "Random baseline")
    says(page, "Of all 5 other heads")
    assert len(page.get("plotly_chart")) == 2
    sets = [(), *((Ablate(layer, head),) for layer in range(2) for head in range(3))]
    said = backend.predict(PictureVector(model=model(backend), picture=photo(), edits=tuple(sets))).values
    cosines = said @ said[0] / np.linalg.norm(said, axis=1) / np.linalg.norm(said[0])
    drawn = json.loads(page.get("plotly_chart")[0].proto.spec)["data"][0]["z"]
    assert np.ravel(np.asarray(_plain(drawn))) == pytest.approx(1 - cosines[1:], abs=1e-5)


def _plain(drawn: Any) -> Any:
    """Return the numbers of a plotly array, given as a list or as encoded bytes."""
    if not isinstance(drawn, dict):
        return drawn
    return np.frombuffer(base64.b64decode(drawn["bdata"]), drawn["dtype"])


def test_how_well_a_text_fits_is_watched(backend: LocalBackend) -> None:
    page = page_of(backend, "clip", watch="text", texts="the cat\nstreet")
    assert "Logit of" in " ".join(notes(page))
    (table,) = page.dataframe
    assert list(table.value["Label"]) in (["the cat", "street"], ["street", "the cat"])


def test_refusals_put_everything_back(backend: LocalBackend) -> None:
    says(page_of(backend, watch="class"), WHAT[SEES])
    page = page_of(backend, edits="a9-9,what")
    says(page, "9-9")
    assert "“what”" in " ".join(notes(page)) or "'what'" in " ".join(notes(page))
    press(page, CLEAR)
    says(page, "Nothing is")


def test_a_recording_has_nothing_to_remove() -> None:
    says(asked("pictures", show="without"), translate(RECORDING))
