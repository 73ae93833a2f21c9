"""Routes of a trace: its numbers, and messages for invalid addresses."""

import hashlib
import re
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from attention.codec import decode_frame
from attention.mask import FloatArray
from attention.measures import summarize_heads
from attention.storage import dump
from attention.trace import Trace
from attention.view import View
from tests.support.cases import loop_over
from tests.support.traces import sentence_trace
from ui.routes.traces import PREFIX, routes
from ui.run.services import ViewOptions, get_trace_store, trace_seal
from ui.server.middleware import SecurityHeaders


@pytest.fixture(scope="module")
def trace() -> Trace:
    return get_trace_store().open(dump(sentence_trace()))


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(Starlette(routes=routes(), middleware=[Middleware(SecurityHeaders)]))


LOOKS = [ViewOptions(), ViewOptions(words=True), ViewOptions(special=False, renormalise=True)]


@pytest.mark.parametrize("look", LOOKS)
def test_frames_hold_the_trace_s_numbers(client: TestClient, trace: Trace, look: ViewOptions) -> None:
    view = View(trace, None, look.words, look.special, look.renormalise)

    def fetch(what: str, extra: str = "") -> tuple[dict[str, Any], dict[str, FloatArray]]:
        answer = client.get(f"{PREFIX}/{trace.id}/{what}?{look.query()}&seal={trace_seal(trace.id)}{extra}")
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        return decode_frame(answer.content)

    header, arrays = fetch("grid")
    assert header == {"sampled": False, "rows": None, "habits": None}
    np.testing.assert_allclose(arrays["grid"], view.thumbnails(48), atol=4e-3)
    crowd = summarize_heads(view, 48).crowd
    np.testing.assert_allclose(arrays["means"] * arrays["counts"][:, None], crowd.sums, atol=2e-3)
    np.testing.assert_allclose(fetch("rows", "&query=1")[1]["rows"], view.rows(1), atol=3e-4)
    np.testing.assert_allclose(fetch("columns", "&key=2")[1]["columns"], view.columns(2), atol=3e-4)
    header, arrays = fetch("tile", "&layer=1&head=2&q0=1&q1=3&k0=0&k1=2&size=64")
    assert header["exact"]
    np.testing.assert_allclose(arrays["tile"], view.weights(1, 2)[1:3, 0:2], atol=3e-4)
    assert not fetch("tile", "&layer=1&head=2&q0=0&q1=3&k0=0&k1=2&size=2")[0]["exact"]


@loop_over(
    "address",
    [
        "rows?query=6", "rows?query=-1", "rows?query=", "rows", "columns?key=1e3", "rows?query=0&part=cross",
        "tile?layer=2&head=0&q0=0&q1=1&k0=0&k1=1&size=8", "tile?layer=0&head=0&q0=3&q1=3&k0=0&k1=1&size=8",
        "tile?layer=0&head=0&q0=0&q1=7&k0=0&k1=1&size=8", "tile?layer=0&head=0&q0=0&q1=1&k0=0&k1=1&size=x",
    ],
)  # fmt: skip
def test_a_wrong_address_gets_a_sentence(client: TestClient, trace: Trace, address: str) -> None:
    answer = client.get(f"{PREFIX}/{trace.id}/{address}{'&' if '?' in address else '?'}seal={trace_seal(trace.id)}")
    assert answer.status_code == 400
    assert answer.text.endswith(".")


def test_a_trace_that_is_gone_says_so(client: TestClient) -> None:
    for name in ("0" * 64, f"file-{'0' * 64}"):
        assert client.get(f"{PREFIX}/{name}/grid?seal={trace_seal(name)}").status_code == 410


def test_who_knows_a_text_cannot_ask_whether_somebody_read_it(client: TestClient, trace: Trace) -> None:
    gone = client.get(f"{PREFIX}/{'0' * 64}/grid")
    other = trace_seal("0" * 64)
    for query in ("", "?seal=", f"?seal={other}", f"?seal={trace_seal(trace.id)[:-1]}", "?seal=%E2%82%AC"):
        answer = client.get(f"{PREFIX}/{trace.id}/grid{query}")
        assert (answer.status_code, answer.text) == (gone.status_code, gone.text) == (410, answer.text)
    assert client.get(f"{PREFIX}/{trace.id}/grid?seal={trace_seal(trace.id)}").status_code == 200


def test_an_opened_file_s_name_is_no_plain_hash_of_it(trace: Trace) -> None:
    assert hashlib.sha256(dump(sentence_trace())).hexdigest() not in trace.id
    assert get_trace_store().open(dump(sentence_trace())).id == trace.id, "the same file is kept once"


def test_every_answer_carries_the_security_headers(client: TestClient) -> None:
    headers = client.get(f"{PREFIX}/{'0' * 64}/grid").headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_a_file_cannot_pass_for_another_text(trace: Trace) -> None:
    assert trace.id.startswith("file-")
    assert trace.id != sentence_trace().id


def test_an_address_says_in_which_language_it_is_answered(client: TestClient, trace: Trace) -> None:
    gone, wrong = f"{PREFIX}/{trace.id}/grid?seal=x", f"{PREFIX}/{trace.id}/rows?seal={trace_seal(trace.id)}&query=x"
    assert "内存" in client.get(f"{gone}&lang=zh").text
    assert re.search(r"“query”.*'x'.*0 至 5", client.get(f"{wrong}&lang=zh").text)
    for address in (gone, wrong):
        assert client.get(address).text == client.get(f"{address}&lang=tlh").text
        assert client.get(address).text.isascii() == (address == gone)  # The other message quotes the request.
