"""Routes of downloads: images with their options, and tidy tables."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from attention.storage import dump
from attention.trace import Trace
from attention.view import View
from inference import TraceRequest
from tests.support.traces import sentence_trace
from ui.routes.exports import routes
from ui.routes.traces import PREFIX
from ui.run.services import get_backend, get_trace_store, trace_seal
from viz.paper.notebook import version


@pytest.fixture(scope="module")
def trace() -> Trace:
    return get_trace_store().open(dump(sentence_trace()))


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(Starlette(routes=routes()))


def address(trace: Trace, name: str, query: str = "") -> str:
    return f"{PREFIX}/{trace.id}/{name}?seal={trace_seal(trace.id)}&layer=1&head=2{query}"


@pytest.mark.parametrize(("file_format", "start"), [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_images_have_their_format(client: TestClient, trace: Trace, file_format: str, start: bytes) -> None:
    answer = client.get(address(trace, "export.image", f"&format={file_format}&width=page&size=9"))
    assert answer.status_code == 200
    assert answer.content.startswith(start)
    assert f"1-2_playing-chess.{file_format}" in answer.headers["content-disposition"]


def test_tables_hold_the_head_s_weights(client: TestClient, trace: Trace) -> None:
    csv, parquet = (io.BytesIO(client.get(address(trace, f"export.{name}")).content) for name in ("csv", "parquet"))
    for frame in (pd.read_csv(csv), pd.read_parquet(parquet)):
        np.testing.assert_array_equal(frame["weight"].to_numpy(np.float32), trace.weights(1, 2).ravel())


@pytest.mark.parametrize("query", ["&size=99", "&format=exe", "&width=3"])
def test_wrong_options_get_a_sentence(client: TestClient, trace: Trace, query: str) -> None:
    answer = client.get(address(trace, "export.image", query))
    assert answer.status_code == 400
    assert answer.text.endswith(".")


def test_a_notebook_gives_the_weights_that_the_view_shows(client: TestClient) -> None:
    text = 'Quotes "and" a tired animal\'s street.'
    trace = get_backend().trace(TraceRequest(text=text))
    answer = client.get(address(trace, "export.ipynb", "&words=1"))
    assert answer.status_code == 200
    cells = answer.json()["cells"]
    assert trace.model.weights
    assert trace.model.weights in "".join(cells[0]["source"])
    names: dict[str, Any] = {}
    for cell in cells[1:]:
        exec("".join(cell["source"]), names)
    np.testing.assert_array_equal(names["numbers"], View(trace, words=True).weights(1, 2))


def test_the_methods_name_the_head_the_weights_and_the_program(client: TestClient) -> None:
    trace = get_backend().trace(TraceRequest(text="A cat sat."))
    methods, citation = client.get(address(trace, "export.txt")).text.split("\n\n")
    assert trace.model.weights
    for word in ("1-2", trace.model.name, trace.model.weights, version()):
        assert word in methods
    assert citation.startswith("@software")


def test_an_opened_file_has_no_notebook(client: TestClient, trace: Trace) -> None:
    assert client.get(address(trace, "export.ipynb")).status_code == 400
