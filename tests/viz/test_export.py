"""Tests of exports: numbers match the view exactly, and spreadsheets and browsers run nothing in them."""

import base64
import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from playwright.sync_api import Page

from attention.codec import from_sqrt8
from attention.measures import summarize_heads
from attention.spreadsheet import file_stem, with_provenance
from attention.tokens import TokenRow
from attention.trace import ModelId, Trace
from attention.view import View
from tests.support.browser import Problems
from tests.support.cases import loop_over
from tests.support.savedfiles import parts
from tests.support.traces import HEADS, LAYERS, hybrid_trace, record, sentence_trace, translation_trace
from viz import export
from viz.components.explore.content import payload as payload_of
from viz.components.script import escape_json, inline
from viz.components.standalone import standalone
from viz.components.standalone.standalone import standalone_html
from viz.export import TooLong, caption, links_csv, strongest_links, weights_csv, weights_json

HOSTILE = "</script><script>window.pwned=1</script>"
PIECES = ("[CLS]", "=1+1", "a,b", 'say "x"', HOSTILE, "-", "line\nbreak", "[SEP]")


def hostile_trace() -> Trace:
    """Return a trace of 8 tokens that a spreadsheet or a browser could interpret as code."""
    length = len(PIECES)
    words = (None, *range(length - 2), None)
    row = TokenRow(PIECES, tuple(range(length)), words, (0,) * length, (None,) * length)
    records = tuple(record(length, length, seed=70 + layer) for layer in range(LAYERS))
    model = ModelId("evil/<b>", "abc123", "encoder", "TinyModel")
    return sentence_trace(source=row, parts={"encoder": records}, model=model, text=f"@SUM(1) {HOSTILE}")


def table_of(content: bytes) -> list[list[str]]:
    """Return the rows of a CSV file as a spreadsheet reads the file.

    Check that plain pandas reads the same shape and column names.
    """
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    plain = pd.read_csv(io.BytesIO(content))
    assert plain.shape == (len(rows) - 1, len(rows[0]))
    assert plain.columns.tolist() == rows[0]
    return rows


def test_csv_is_the_map_for_plain_pandas() -> None:
    view = View(hostile_trace())
    table = pd.read_csv(io.BytesIO(weights_csv(view, 1, 2)))
    names = ["[CLS]", "'=1+1", "a,b", 'say "x"', HOSTILE, "'-", "line\nbreak", "[SEP]"]
    assert table.columns.tolist() == ["query", *names]
    assert table["query"].tolist() == names
    assert np.array_equal(table[names].to_numpy(np.float32), view.weights(1, 2))


def test_repeated_words_have_names_of_their_own() -> None:
    row = TokenRow(("the", "the", "the#2", "the"), tuple(range(4)), tuple(range(4)), (0,) * 4, (None,) * 4)
    trace = sentence_trace(source=row, parts={"encoder": (record(4, 4, seed=1),)}, text="the the the#2 the")
    table = pd.read_csv(io.BytesIO(weights_csv(View(trace), 0, 0)))
    names = ["the", "the#3", "the#2", "the#4"]
    assert table.columns.tolist() == ["query", *names]
    assert table["query"].tolist() == names


def test_provenance_lies_next_to_the_table() -> None:
    view = View(hostile_trace())
    about = caption(view, 1, 2)
    stem = file_stem("headlight-attention", about)
    assert stem == "headlight-attention_b_1-2_sum-1--1-script"
    content = with_provenance(stem, weights_csv(view, 1, 2), about)
    assert content == with_provenance(stem, weights_csv(view, 1, 2), about)
    table, meta = parts(content)
    assert table == weights_csv(view, 1, 2)
    assert {name: meta[name] for name in about} == about
    assert (meta["model"], meta["revision"], meta["layer"], meta["head"]) == ("evil/<b>", "abc123", 1, 2)
    assert (meta["index_base"], meta["special_tokens_shown"], meta["part"]) == (0, True, "encoder")
    assert "keep_default_na=False" in meta["notes"][1]


def test_words_that_pandas_calls_missing_can_be_kept() -> None:
    words = ("NA", "null", "nan", "1")
    row = TokenRow(words, tuple(range(4)), tuple(range(4)), (0,) * 4, (None,) * 4)
    trace = sentence_trace(source=row, parts={"encoder": (record(4, 4, seed=1),)}, text=" ".join(words))
    content = weights_csv(View(trace), 0, 0)
    table = pd.read_csv(io.BytesIO(content))
    assert table["query"].isna().tolist() == [True, True, True, False]
    assert table.columns.tolist() == ["query", *words]
    assert pd.read_csv(io.BytesIO(content), keep_default_na=False)["query"].tolist() == list(words)


def test_no_cell_is_a_formula() -> None:
    view = View(hostile_trace())
    for content in (weights_csv(view, 0, 0), links_csv(view)):
        cells = [cell for row in table_of(content) for cell in row]
        assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@"))]
    assert table_of(links_csv(view))[0][0] == "layer"


@loop_over("text", ["../../etc/passwd", "..", "", "\x00\n", "a" * 500, "那只动物" * 50, "CON", ".hidden", "👍"])
def test_file_name_is_safe_for_any_text(text: str) -> None:
    stem = file_stem("headlight-attention", {"model": text or "m", "layer": 0, "head": 11, "text": text})
    assert stem.startswith("headlight-attention")
    assert len(stem) <= 100
    assert len(stem.encode()) <= 200
    assert not re.search(r'[\x00-\x1f/\\\\:*?"<>|\s]', stem)


def test_json_holds_every_bit_and_the_tokens_as_they_are() -> None:
    view = View(translation_trace(), "cross", special=False, renormalise=True)
    content = json.loads(weights_json(view, 0, 1))
    assert np.array_equal(np.array(content["weights"], np.float32), view.weights(0, 1))
    assert [token["text"] for token in content["keys"]] == ["play", "ing", "chess", "."]
    assert [token["label"] for token in content["keys"]] == ["play", "##ing", "chess", "."]
    about = content["caption"]
    assert (about["part"], about["target"], about["layer"], about["head"]) == ("cross", "jouer", 0, 1)
    assert about["rows_renormalised"] is True


@pytest.mark.parametrize("count", [1, 5, 40, 10_000])
def test_links_are_the_strongest_of_all(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "BLOCK", 24)  # A small block makes the search run over several blocks of rows.
    view = View(hostile_trace())
    maps = np.array([[view.weights(layer, head) for head in range(HEADS)] for layer in range(LAYERS)])
    found = strongest_links(view, count)
    assert len(found) == min(count, maps.size)
    assert [link[0] for link in found] == np.sort(maps.reshape(-1))[::-1][:count].tolist()
    assert all(maps[tuple(place)] == weight for weight, *place in found)


def test_equal_links_come_in_reading_order() -> None:
    trace = sentence_trace(parts={"encoder": (record(6, 6, heads=1, query=np.zeros((1, 6, 4), np.float32)),)})
    assert [link[3:] for link in strongest_links(View(trace), 8)] == [(0, k) for k in range(6)] + [(1, 0), (1, 1)]


def test_a_link_has_its_tokens_beside_its_positions() -> None:
    view = View(hostile_trace())
    rows = table_of(links_csv(view, 3))
    weight, layer, head, query, key = strongest_links(view, 1)[0]
    assert rows[1][:3] == [str(layer), str(head), str(query)]
    assert rows[1][3].lstrip("'") == PIECES[query]
    assert rows[1][5].lstrip("'") == PIECES[key]
    assert np.float32(rows[1][6]) == weight
    assert len(rows) == 4


def test_too_large_a_file_is_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    view = View(hostile_trace())
    monkeypatch.setattr(export, "MOST_CELLS", 63)
    monkeypatch.setattr(export, "MOST_WEIGHTS", 100)
    monkeypatch.setattr(standalone, "BYTES", 63)
    monkeypatch.setattr(standalone, "HALVES", 63)
    for make in (weights_csv, weights_json):
        with pytest.raises(TooLong, match=r"63 weights; .* 64\."):
            make(view, 0, 0)
    with pytest.raises(TooLong, match=r"100 weights; .* 384"):
        links_csv(view)
    with pytest.raises(TooLong, match="save the"):
        page_of(view)


def test_what_is_written_into_a_script_cannot_end_it() -> None:
    assert json.loads(escape_json({"a": HOSTILE, "b": "\u2028<!--&"})) == {"a": HOSTILE, "b": "\u2028<!--&"}
    for text in (escape_json(HOSTILE), inline(f"x = '{HOSTILE}<!--'")):
        assert "</" not in text
        assert "<!--" not in text


SELECTION: dict[str, Any] = {
    "layer": 1,
    "head": 2,
    "focus": 3,
    "target": None,
    "tab": "matrix",
    "facing": "out",
    "order": "layer",
    "scale": "sqrt",
    "filter": "all",
    "pinned": [],
}


def page_of(view: View, script: str = "export function mount() {}", style: str = "", **selection: Any) -> str:
    """Return a standalone HTML page with the payload that the component reads."""
    tokens = [{"text": c.text, "special": c.special, "segment": c.segment, "word": c.word} for c in view.queries]
    payload = {
        "version": 1,
        "state": "ready",
        "message": "",
        "base": "/headlight/trace/x",
        "view": "part=",
        "model": {"name": view.trace.model.name, "revision": None, "weights": None, "kind": "encoder"},
        "text": view.trace.text,
        "pair": None,
        "layers": view.layers,
        "heads": view.heads,
        "queries": tokens,
        "keys": None,
        "causal": False,
        "direction": "encoder",
        "measures": [],
        "options": payload_of(view, summarize_heads(view, 4), {}, "", "")["options"],
        "sampled": False,
        "selection": {**SELECTION, **selection},
    }
    return standalone_html(view, payload, summarize_heads(view, 48), None, script, style)


def embedded_in(page: str) -> dict[str, Any]:
    found = re.search(r'id="embedded">(.*?)</script>', page)
    assert found
    embedded: dict[str, Any] = json.loads(found[1])
    return embedded


def numbers_of(coded: dict[str, Any]) -> npt.NDArray[Any]:
    raw = base64.b64decode(coded["data"])
    if coded["coding"] == "sqrt8":
        return from_sqrt8(np.frombuffer(raw, "u1")).reshape(coded["shape"])
    return np.frombuffer(raw, "<f2").astype(np.float32).reshape(coded["shape"])


def test_a_page_holds_every_head_or_says_which() -> None:
    view = View(hostile_trace())
    embedded = embedded_in(page_of(view))
    assert len(embedded["maps"]) == LAYERS * HEADS
    assert np.abs(numbers_of(embedded["maps"]["1.2"]) - view.weights(1, 2)).max() < 5e-4
    assert (embedded["payload"]["base"], embedded["payload"]["message"], embedded["asked"]) == ("", "", None)


def test_a_long_text_keeps_the_heads_one_looks_at(monkeypatch: pytest.MonkeyPatch) -> None:
    view = View(hostile_trace())
    monkeypatch.setattr(standalone, "HALVES", 0)
    embedded = embedded_in(page_of(view))
    assert {coded["coding"] for coded in embedded["maps"].values()} == {"sqrt8"}
    assert np.abs(numbers_of(embedded["maps"]["0.1"]) - view.weights(0, 1)).max() < 0.004
    monkeypatch.setattr(standalone, "BYTES", 2 * 64)
    page = page_of(view, pinned=[[0, 0], [9, 9]])
    embedded = embedded_in(page)
    assert set(embedded["maps"]) == {"1.2", "0.0"}
    assert (embedded["asked"]["kind"], embedded["asked"]["at"]) == ("rows", 3)
    assert np.abs(numbers_of(embedded["asked"]) - view.rows(3)).max() < 5e-4
    turned = embedded_in(page_of(view, facing="in", focus=None, target=2))["asked"]
    assert (turned["kind"], turned["at"]) == ("columns", 2)
    assert np.abs(numbers_of(turned) - view.columns(2)).max() < 5e-4
    assert "Maps of the 2 nearest of 6 heads" in embedded["payload"]["message"]
    assert "Maps of the 2 nearest of 6 heads" in page.split("<footer>")[1]


def test_a_page_names_its_source_as_text() -> None:
    page = page_of(View(hostile_trace()))
    assert "evil/&lt;b&gt;" in page
    assert '<dt>Revision</dt><dd dir="auto">abc123</dd>' in page
    assert page.count("</script") == 2
    assert "window.pwned=1</script>" not in page


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_a_page_opens_from_the_disk_and_answers(page: Page, problems: Problems, tmp_path: Path) -> None:
    from viz.components.explore.explore import script, style

    problems.allow("machine: file:")
    view = View(hostile_trace())
    (tmp_path / "page.html").write_text(page_of(view, script(), style()), encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    page.locator(".hl[data-painted='|1|2|3|matrix']").wait_for()
    best = max(range(len(PIECES)), key=lambda key: view.weights(1, 2)[3, key])
    sentence = page.locator("#view").inner_text()
    assert f"{view.weights(1, 2)[3, best]:.0%}" in sentence
    assert HOSTILE in sentence
    assert page.evaluate("window.pwned === undefined")
    page.get_by_role("button", name="a,b").first.click()
    page.locator(".hl[data-painted='|1|2|2|matrix']").wait_for()


def test_a_page_without_all_heads_still_answers_for_those_it_has(
    page: Page, problems: Problems, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from viz.components.explore.explore import script, style

    problems.allow("machine: file:")
    monkeypatch.setattr(standalone, "HALVES", 0)
    monkeypatch.setattr(standalone, "BYTES", 2 * 64)
    view = View(hostile_trace())
    (tmp_path / "page.html").write_text(page_of(view, script(), style()), encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    page.locator(".hl[data-painted='|1|2|3|matrix']").wait_for()
    assert "Maps of the 2 nearest of 6 heads" in page.locator("#view").inner_text()
    page.get_by_role("button", name="a,b").first.click()
    page.get_by_text("Open the text in Headlight for the others.").wait_for()
    assert f"{view.weights(1, 2)[2].max():.0%}" in page.locator("#view").inner_text()


def test_links_are_of_layers_that_attend() -> None:
    found = strongest_links(View(hybrid_trace()), 1000)
    assert {layer for _, layer, *_ in found} == {1, 3}
