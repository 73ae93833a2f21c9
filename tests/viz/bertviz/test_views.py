"""Tests of the BertViz views: numbers of the trace, no code from tokens, no requests to other hosts."""

import base64
import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from playwright.sync_api import Page, expect

from attention.mask import Mask
from attention.record import Record, Unavailable
from attention.tokens import TokenRow
from attention.trace import Trace
from attention.view import View
from tests.support.browser import Problems
from tests.support.cases import loop_over
from tests.support.traces import HEADS, LAYERS, record, sentence_trace, translation_trace
from viz.bertviz.vendor import SCRIPTS, policy, vendor
from viz.bertviz.views import (
    MOST_BYTES,
    WIDTHS,
    budget,
    describe_omissions,
    head_html,
    height,
    model_html,
    neuron_html,
    too_long,
)

KINDS = {"head": head_html, "model": model_html, "neuron": neuron_html}
HOSTILE = "</script><script>window.pwned=1</script>"
SHOWN = "</script><script>…"
PIECES = ("[CLS]", "is", HOSTILE, "<!--", "[SEP]", "مرحبا", "<b>汉字</b>", "\u2028", "[SEP]")
SECOND = 5  # Index of the second text's first token.


def pair_trace(**extra: Any) -> Trace:
    """Return a trace of two texts (5 and 4 tokens) with hostile tokens, grouped-query heads and scale 0.7."""
    length = len(PIECES)
    row = TokenRow(
        pieces=PIECES,
        ids=tuple(range(length)),
        words=(None, 0, 1, 2, None, 0, 1, 2, None),
        segments=tuple(int(i >= SECOND) for i in range(length)),
        spans=(None,) * length,
    )
    fields = {"heads": 4, "kv_heads": 2, "channels": 6, "scale": 0.7, **extra}
    records = tuple(record(length, length, seed=50 + layer, **fields) for layer in range(LAYERS))
    return sentence_trace(source=row, parts={"encoder": records}, pair="two")


def payload_of(document: str) -> dict[str, Any]:
    """Return the JSON payload of a document, as its scripts read it."""
    found = re.search(r'<script type="application/json" id="payload">(.*?)</script>', document)
    assert found
    payload: dict[str, Any] = json.loads(found[1])
    return payload


def unpacked(block: dict[str, Any]) -> npt.NDArray[Any]:
    values = np.frombuffer(base64.b64decode(block["data"]), "<i2").reshape(block["shape"])
    return np.asarray(values * block["unit"])


def test_vendor_scripts_name_no_other_machine_to_load_from() -> None:
    assert b"v5.7.0" in vendor("d3.js")[:40]
    assert b"jQuery v3" in vendor("jquery.js")[:40]
    for name in SCRIPTS:
        assert b"cdnjs" not in vendor(name)
        assert b"PYTHON_PARAMS;" not in vendor(name)
    with pytest.raises(KeyError, match=r"secrets.* jquery"):
        vendor("secrets.py")


@pytest.mark.parametrize("host", ["evil.example; script-src *", "a b", "", "x/../", "a:b"])
def test_policy_takes_a_host_only(host: str) -> None:
    with pytest.raises(ValueError, match="host name"):
        policy(host, "/v")


@pytest.mark.parametrize("host", ["localhost:8501", "[::1]:80", "a-b.example"])
def test_policy_lets_only_the_served_scripts_run(host: str) -> None:
    said = policy(host, "/v")
    assert f"script-src {host}/v/;" in said
    assert "sandbox allow-scripts;" in said
    assert "unsafe-inline" not in said.split("style-src")[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_holds_the_views_weights_once(kind: str) -> None:
    view = View(sentence_trace())
    document = KINDS[kind](view, prefix="/v")
    (part,) = payload_of(document)["parts"]
    for layer, block in enumerate(part["weights"]):
        expected = np.stack([view.weights(layer, head) for head in range(HEADS)])
        assert np.abs(unpacked(block) - expected).max() < 2e-5
        assert document.count(block["data"]) == 1
    assert part["left"] == [cell.label for cell in view.queries]


def test_words_and_hidden_tokens_are_drawn_as_the_view_has_them() -> None:
    view = View(sentence_trace(), words=True, special=False, renormalise=True)
    (part,) = payload_of(head_html(view, prefix="/v"))["parts"]
    assert part["left"] == ["playing", "chess", "."]
    assert np.abs(unpacked(part["weights"][1])[2] - view.weights(1, 2)).max() < 2e-5
    (pieces,) = payload_of(neuron_html(view, prefix="/v"))["parts"]
    assert pieces["left"] == ["play", "##ing", "chess", "."]


def test_the_boxes_of_the_neuron_view_count_from_0(page: Page, problems: Problems, tmp_path: Path) -> None:
    problems.allow("machine: file:")
    (tmp_path / "neuron.html").write_text(neuron_html(View(pair_trace()), layer=1, head=2), encoding="utf-8")
    page.goto((tmp_path / "neuron.html").as_uri())
    assert page.locator("#layer option:checked").inner_text() == "1"
    assert page.locator("#att_head option:checked").inner_text() == "2"
    assert page.locator("#att_head option").first.inner_text() == "0"


def test_the_neuron_view_holds_queries_keys_and_the_models_scale() -> None:
    trace = pair_trace()
    (part,) = payload_of(neuron_html(View(trace), prefix="/v"))["parts"]
    found = trace.records()[1]
    assert isinstance(found, Record)
    assert np.abs(unpacked(part["queries"][1]) - found.query).max() < 1e-3
    # The document stores each of the two key-value heads once.
    assert unpacked(part["keys"][1]).shape == found.key.shape
    assert part["scale"] == [0.7, 0.7]


@loop_over("kind", KINDS)
@loop_over("prefix", ["/v", None])
def test_no_token_can_end_a_script(kind: str, prefix: str | None) -> None:
    document = KINDS[kind](View(pair_trace()), prefix=prefix)
    assert "<script>window" not in document
    assert "<!--" not in document
    assert document.count("</script") == 5  # The five scripts are the data, jQuery, d3, the bridge and the view.
    assert not re.search(r'(?:src|href)="?https?:', document)


def test_parts_of_a_translation_are_offered_together() -> None:
    view = View(translation_trace(), "cross")
    parts = payload_of(head_html(view, prefix="/v"))["parts"]
    assert [part["name"] for part in parts] == ["Cross: decoder to encoder", "Encoder", "Decoder"]
    assert (len(parts[0]["left"]), len(parts[0]["right"])) == (3, 6)
    with pytest.raises(Unavailable, match=view.trace.model.architecture):
        neuron_html(view)
    assert payload_of(neuron_html(replace(view, part="decoder"), prefix="/v"))["causal"] is True


def test_what_the_neuron_picture_leaves_out_is_said() -> None:
    plain = View(pair_trace())
    assert describe_omissions(plain) == []
    length = len(PIECES)
    odd = View(
        pair_trace(
            bias=np.zeros((1, length, length), np.float32),
            softcap=50.0,
            sinks=np.zeros(4, np.float32),
            mask=Mask(length, length, causal=True, left=2),
        ),
        special=False,
    )
    said = " ".join(describe_omissions(odd))
    for words in ("position bias", "±50", "sink", "Masked pairs", "Special tokens are hidden"):
        assert words in said
        assert words in neuron_html(odd, prefix="/v")


@pytest.mark.parametrize(("layers", "heads", "channels"), [(6, 12, 32), (12, 12, 64), (24, 16, 64), (2, 2, 128)])
def test_a_text_within_the_budget_makes_a_document_within_its_bytes(layers: int, heads: int, channels: int) -> None:
    for kind in KINDS:
        tokens = budget(kind, layers, heads, channels)
        vectors = 2 * tokens * channels if kind == "neuron" else 0
        assert layers * heads * (tokens**2 + vectors) * 8 / 3 <= MOST_BYTES
        assert tokens >= 25


def long_row(count: int, per_word: int = 1) -> TokenRow:
    words = tuple(i // per_word for i in range(count))
    return TokenRow(("x",) * count, (1,) * count, words, (0,) * count, (None,) * count)


def test_too_long_a_text_is_refused_in_one_sentence() -> None:
    short = sentence_trace(parts={"encoder": (record(6, 6, heads=12),)})
    assert too_long("model", View(short)) is None
    long = sentence_trace(source=long_row(900), parts={"encoder": (record(900, 900, heads=12),)})
    assert re.search(r"model view .* beyond 158 tokens .* this text has 900", too_long("model", View(long)) or "")


def test_every_part_that_a_document_holds_counts() -> None:
    parts = {"encoder": (record(400, 400),), "decoder": (record(3, 3),), "cross": (record(3, 400),)}
    trace = replace(translation_trace(), source=long_row(400), parts=parts)
    assert "this text has 400" in (too_long("head", View(trace, "decoder")) or "")


def test_the_neuron_view_counts_pieces_since_it_shows_them() -> None:
    trace = sentence_trace(source=long_row(1200, per_word=8), parts={"encoder": (record(1200, 1200, heads=12),)})
    assert len(View(trace, words=True).queries) == 150
    assert "this text has 1200" in (too_long("neuron", View(trace, words=True)) or "")


class DocumentServer(ThreadingHTTPServer):
    """A server that maps paths to documents."""

    documents: dict[str, str]


class Handler(BaseHTTPRequestHandler):
    """A minimal version of the app's routes for BertViz."""

    def do_GET(self) -> None:
        name = self.path.removeprefix("/v/")
        if self.path.startswith("/v/"):
            self.answer(vendor(name), "text/javascript", {})
        else:
            headers = {"Content-Security-Policy": policy(self.headers["Host"], "/v")}
            self.answer(cast("DocumentServer", self.server).documents[self.path].encode(), "text/html", headers)

    def answer(self, body: bytes, kind: str, headers: dict[str, str]) -> None:
        self.send_response(200)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@dataclass(frozen=True)
class Served:
    """The URL of the served documents, and their trace."""

    url: str
    trace: Trace


Visit = Callable[[str], Page]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """Yield a running server of the documents of every view, in light and dark themes."""
    trace = pair_trace()
    server = DocumentServer(("127.0.0.1", 0), Handler)
    server.documents = {
        f"/{kind}-{theme}": make(View(trace), prefix="/v", dark=theme == "dark")
        for kind, make in KINDS.items()
        for theme in ("light", "dark")
    }
    server.documents["/injected"] = server.documents["/head-light"] + "<script>window.pwned=1</script>"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Served(url=f"http://127.0.0.1:{server.server_port}", trace=trace)
    server.shutdown()
    server.server_close()


@pytest.fixture
def visit(served: Served, page: Page) -> Visit:
    """Return a function that opens a document; console errors and foreign requests fail the test."""

    def go(name: str) -> Page:
        page.goto(f"{served.url}/{name}")
        page.locator("#vis svg").wait_for()
        return page

    return go


def numbers(page: Page, selector: str, attribute: str) -> list[float]:
    found: list[float] = page.eval_on_selector_all(
        selector, f"found => found.map(one => Number(one.getAttribute('{attribute}')))"
    )
    return found


@loop_over("theme", ["light", "dark"])
@loop_over("kind", KINDS)
def test_tokens_are_text_and_nothing_else(visit: Visit, kind: str, theme: str) -> None:
    page = visit(f"{kind}-{theme}")
    if kind == "model":
        page.locator("#vis rect").last.dispatch_event("click")
    texts = page.locator("#vis text").all_text_contents()
    for token in (SHOWN, "<!--", "مرحبا", "<b>汉字</b>"):
        assert texts.count(token) >= 2
    assert page.evaluate("window.pwned === undefined && window.origin === 'null'")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(18, 20, 23)" if theme == "dark" else "rgba(0, 0, 0, 0)")


def test_a_script_that_came_in_all_the_same_would_not_run(visit: Visit, problems: Problems) -> None:
    problems.allow("Content Security Policy")
    assert visit("injected").evaluate("window.pwned === undefined")
    assert len(problems.noticed) == 1


def test_the_head_view_draws_the_weights_and_the_pairs(visit: Visit, served: Served) -> None:
    page = visit("head-light")
    page.locator("rect[fill='#ff7f0e']").last.dispatch_event("dblclick")  # A double click shows head 1 only.
    length = len(PIECES)
    drawn = np.reshape(numbers(page, ".headAttention[head-index='1'] line", "stroke-opacity"), (length, length))
    assert np.abs(drawn - served.trace.weights(0, 1)).max() < 5e-5
    page.locator("#filter").select_option(label="Sentence A → Sentence B")
    page.locator("#layer").select_option("1")
    drawn = np.reshape(numbers(page, ".headAttention[head-index='1'] line", "stroke-opacity"), (SECOND, -1))
    assert np.abs(drawn - served.trace.weights(1, 1)[:SECOND, SECOND:]).max() < 5e-5


def test_the_model_view_draws_every_head(visit: Visit, served: Served) -> None:
    page = visit("model-light")
    drawn = np.reshape(numbers(page, "#vis line", "stroke-opacity"), (LAYERS, 4, len(PIECES), len(PIECES)))
    expected = [[served.trace.weights(layer, head) for head in range(4)] for layer in range(LAYERS)]
    assert np.abs(drawn - np.array(expected)).max() < 5e-5


def test_the_neuron_view_computes_the_models_own_scores(visit: Visit, served: Served) -> None:
    page = visit("neuron-light")
    page.locator("#layer").select_option("1")
    page.locator("#att_head").select_option("3")
    page.locator("#expanded #leftText g").nth(2).dispatch_event("mouseover")
    scores = numbers(page, "#dotproducts rect", "data-value")
    assert np.abs(np.array(scores) - served.trace.scores(1, 3)[2]).max() < 2e-3
    page.locator("#filter").select_option(label="Sentence B → Sentence A")
    page.locator("#expanded #leftText g").nth(1).dispatch_event("mouseover")
    scores = numbers(page, "#dotproducts rect", "data-value")
    assert np.abs(np.array(scores) - served.trace.scores(1, 3)[SECOND + 1, :SECOND]).max() < 2e-3


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_fits_the_height_it_asks_for(visit: Visit, served: Served, kind: str) -> None:
    page = visit(f"{kind}-light")
    asked = height(kind, View(served.trace))
    assert asked - 130 < page.evaluate("document.body.offsetHeight") <= asked
    expect(page.locator("body.more")).to_have_count(0)
    page.set_viewport_size({"width": WIDTHS["head"] + 30, "height": 844})
    hidden = page.evaluate("(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.scrollingElement)")
    assert hidden > 1 or kind == "head"
    expect(page.locator("body.more")).to_have_count(int(hidden > 1))  # the edge fades
    page.evaluate("scrollTo(9999, 0)")
    expect(page.locator("body.more")).to_have_count(0)


def test_a_saved_document_opens_from_the_disk(page: Page, problems: Problems, tmp_path: Path) -> None:
    problems.allow("machine: file:")
    (tmp_path / "neuron.html").write_text(neuron_html(View(pair_trace())), encoding="utf-8")
    page.goto((tmp_path / "neuron.html").as_uri())
    assert page.locator("#vis text").count() > 2 * len(PIECES)
    assert page.evaluate("window.pwned === undefined")
