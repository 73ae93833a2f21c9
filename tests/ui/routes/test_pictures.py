"""Routes of a picture's trace: maps, rows and photo; traces of texts have none."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from attention.codec import decode_frame
from attention.storage import dump
from attention.trace import Trace
from i18n import use_language
from tests.support.seen import TOKENS, picture_trace
from tests.support.traces import sentence_trace
from ui.routes import pictures, traces
from ui.routes.traces import PREFIX
from ui.run.services import get_trace_store, trace_seal
from viz.components.picture.content import head_map, in_every_head, rollout_map


@pytest.fixture(scope="module")
def trace() -> Trace:
    return get_trace_store().add_picture_trace(picture_trace())


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(Starlette(routes=[*traces.routes(), *pictures.routes()]))


def address(trace: Trace, what: str, query: str = "") -> str:
    return f"{PREFIX}/{trace.id}/{what}?seal={trace_seal(trace.id)}{query}"


def test_maps_rows_and_photo_are_the_trace_s(client: TestClient, trace: Trace) -> None:
    answer = client.get(address(trace, "patches", "&layer=1&head=2"))
    np.testing.assert_allclose(decode_frame(answer.content)[1]["map"], trace.weights(1, 2), atol=4e-3)
    assert "immutable" in answer.headers["cache-control"]
    rolled = decode_frame(client.get(address(trace, "rollout")).content)[1]["map"]
    np.testing.assert_allclose(rolled, rollout_map(trace.records()), atol=4e-3)
    rows = decode_frame(client.get(address(trace, "rows", f"&query={TOKENS - 1}")).content)[1]["rows"]
    np.testing.assert_allclose(rows, trace.rows(TOKENS - 1), atol=3e-4)
    for name, facing, field in (("norms_rows", "out", "query"), ("norms_columns", "in", "key")):
        looks = decode_frame(client.get(address(trace, name, f"&{field}=4")).content)[1]
        wanted = in_every_head(trace.records(), facing, 4, "norms")
        np.testing.assert_allclose(looks[name.removeprefix("norms_")], wanted, atol=3e-4)
    map_ = decode_frame(client.get(address(trace, "norms", "&layer=1&head=2")).content)[1]["map"]
    np.testing.assert_allclose(map_, head_map(trace.records(), 1, 2, "norms"), atol=4e-3)
    photo = client.get(address(trace, "picture.jpg"))
    assert photo.headers["content-type"] == "image/png"
    assert photo.content.startswith(b"\x89PNG")


def test_a_page_of_its_own_is_in_the_reader_s_language(client: TestClient, trace: Trace) -> None:
    query = "&layer=0&head=1&token=3&facing=in&by=odd&title=%3Cb%3E&cited=Somebody"
    answer = client.get(address(trace, "picture.html", query))
    assert "attachment" in answer.headers["content-disposition"]
    assert "<b>" not in answer.text
    assert '"facing":"in","by":"head"' in answer.text
    assert '<dd dir="auto">Somebody</dd>' in answer.text
    assert '<html lang="zh">' in client.get(address(trace, "picture.html", query + "&lang=zh")).text


@pytest.mark.parametrize("what", ["picture.jpg", "patches", "rollout", "picture.html"])
def test_a_text_has_no_picture(client: TestClient, what: str) -> None:
    text = get_trace_store().open(dump(sentence_trace()))
    answer = client.get(address(text, what, "&layer=0&head=0&token=0"))
    assert (answer.status_code, answer.text) == (400, "This is a text, not a picture.")


@pytest.mark.parametrize(
    "query", ["&layer=2&head=0&token=0", "&layer=0&head=3&token=0", f"&layer=0&head=0&token={TOKENS}"]
)
def test_a_wrong_address_gets_a_sentence(client: TestClient, trace: Trace, query: str) -> None:
    answer = client.get(address(trace, "picture.html", query))
    assert answer.status_code == 400
    assert answer.text.endswith(".")


def test_too_many_patches_are_not_sent_whole(client: TestClient, trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "LARGEST_MAP", TOKENS - 1)
    for what in ("patches", "rollout"):
        answer = client.get(address(trace, what, "&layer=0&head=0"))
        assert (answer.status_code, answer.text[:12]) == (400, "This picture")


def test_nothing_of_a_picture_stays_once_its_session_let_go(client: TestClient) -> None:
    held = get_trace_store().add_picture_trace(picture_trace(id="a-picture-let-go"))
    asked = address(held, "picture.jpg")
    assert client.get(asked).status_code == 200
    del held
    gc.collect()
    assert client.get(asked).status_code == 410


def test_what_stands_in_files_is_told() -> None:
    told = dict(pictures.description_of(picture_trace(), "Photo: somebody"))
    assert told == {"Model": "tiny", "Picture": "40 × 24 pixels", "Whose picture": "Photo: somebody"}
    with use_language("zh"):
        assert "Model" not in dict(pictures.description_of(picture_trace()))
