"""The files of a static site: weights computed by its script, sizes, and the content of the page."""

from __future__ import annotations

import gzip
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention.codec import decode_frame, frame
from attention.mask import Mask
from attention.measures import summarize_heads
from attention.record import Record
from attention.view import DisplayToken, merge
from headlight.notebook import Shown
from inference import LocalBackend, TraceRequest
from tests.support.cases import loop_over
from tests.support.repository import ROOT
from tools.javascript import program
from viz import site_layers
from viz.export import TooLong
from viz.site import site_files
from viz.site_entries import LONGEST, RecordedText, text_file
from viz.site_layers import MOST_ERROR, MOST_SHARE, layer_arrays, mask_rules

# Prints the weights of every head of a layer, computed by the script of the site from the files in the arguments.
COMPUTE = """
import { decodeFrame } from "%(folder)s/shared/frames.js";
import { headWeights } from "%(folder)s/site/recorded.js";
import { mergeMap } from "%(folder)s/site/merging.js";
const found = Deno.args.map((name) => {
  const { header, arrays } = decodeFrame(Deno.readFileSync(name).buffer);
  const cells = (name) => header[name].map((at) => ({ at }));
  const merged = (map) => header.queries ? mergeMap(map, header.wide, cells("queries"), cells("keys")) : map;
  return header.layers.map((rules, layer) =>
    Array.from({ length: header.heads }, (_, head) => [...merged(headWeights(arrays, rules, layer, head))]));
});
console.log(JSON.stringify(found));
"""


def computed(folder: Path, frames: list[bytes]) -> Any:
    files = []
    for at, content in enumerate(frames):
        files.append(folder / f"{at}.bin")
        files[-1].write_bytes(content)
    code = COMPUTE % {"folder": (ROOT / "viz" / "components").as_uri()}
    command = [program(), "run", "--allow-read", "--no-config", "-", *map(str, files)]
    return json.loads(subprocess.run(command, input=code, text=True, capture_output=True, check=True).stdout)


def record(**changes: Any) -> Record:
    random = np.random.default_rng(0)
    query, key = random.normal(size=(4, 5, 2)), random.normal(size=(2, 7, 2)) + 3  # keys share a large component
    arrays = (query.astype(np.float32), key.astype(np.float32), key.astype(np.float32))
    return replace(Record(*arrays, scale=0.7, mask=Mask(5, 7)), **changes)


ALLOWED = np.arange(35).reshape(5, 7) % 3 > 0
BIAS = np.random.default_rng(1).normal(size=(4, 5, 7)).astype(np.float32)
RECORDS = {
    "plain": record(),
    "causal": record(mask=Mask(5, 7, causal=True)),
    "window": record(mask=Mask(5, 7, causal=True, left=2)),
    "array": record(mask=Mask(5, 7, allowed=ALLOWED)),
    "bias": record(bias=BIAS),
    "shared bias": record(bias=BIAS[:1]),
    "soft cap": record(softcap=2.0),
    "overflow": record(query=record().query * 1e6),
    "sinks": record(sinks=np.array([0, 1, 2, 3], np.float32)),
}


def _named(row: Record) -> dict[str, Any]:
    """Return the arrays of a layer with the names that they have in a file."""
    return {f"{name}.0": array for name, array in layer_arrays(row)[0].items()}


@pytest.mark.slow
def test_the_script_computes_the_weights_of_every_kind_of_layer(tmp_path: Path) -> None:
    rows = RECORDS.values()
    frames = [
        frame(
            {"layers": [mask_rules(row)], "heads": 4},
            _named(row),
        )
        for row in rows
    ]
    for (name, row), [maps] in zip(RECORDS.items(), computed(tmp_path, frames), strict=True):
        for head, weights in enumerate(maps):
            exact = row.weights(head)
            most = np.minimum(MOST_ERROR, MOST_SHARE * exact.max(axis=1, keepdims=True))
            difference = np.abs(np.reshape(weights, (5, 7)) - exact)
            assert (difference <= most + 1e-6).all(), f"{name}, head {head}"


WORDS = [(0, 1), (1, 4), (4, 5), (5, 6), (6, 7)]  # tokens of each word


@pytest.mark.slow
def test_the_script_merges_tokens_to_words_like_a_view(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    frames, exact = [], []
    for size in (1, 3, 5):
        queries, keys = WORDS[:size], WORDS[size - 1 :]
        maps = random.random((4, queries[-1][1], 7)).astype(np.float16).astype(np.float32)
        shown = [tuple(DisplayToken("", False, 0, 0, at) for at in cells) for cells in (queries, keys)]
        start = keys[0][0]
        moved = [(one - start, other - start) for one, other in keys]
        frames.append(
            frame(
                {"layers": [{}], "heads": 4, "queries": queries, "keys": moved, "wide": 7 - start},
                {"maps.0": (maps[:, :, start:], "float16")},
            )
        )
        exact.append([merge(weights[:, start:], *shown) for weights in maps])
    for [found], expected in zip(computed(tmp_path, frames), exact, strict=True):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(np.reshape(np.float32(one), other.shape), other)


def test_a_layer_is_stored_as_maps_if_rounding_changes_its_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays, error = layer_arrays(record())
    assert set(arrays) == {"query", "query.step", "key", "key.step"}
    assert 0 < error <= MOST_ERROR
    monkeypatch.setattr(site_layers, "MOST_ERROR", 0)
    for row in (record(), RECORDS["overflow"]):
        arrays, rounded = layer_arrays(row)
        assert set(arrays) == {"maps"}
        assert rounded <= 2**-11  # the rounding of a weight to float16


def test_rounded_queries_and_keys_take_less_than_float16() -> None:
    random = np.random.default_rng(5)
    query, key = (random.normal(size=(heads, 80, 16)).astype(np.float32) for heads in (4, 2))
    row = record(query=query, key=key, value=key, mask=Mask(80, 80))
    halves: dict[str, Any] = {"query": (query, "float16"), "key": (key, "float16")}
    rounded, plain = (len(gzip.compress(frame({}, arrays))) for arrays in (layer_arrays(row)[0], halves))
    assert rounded < 0.8 * plain


def test_a_layer_is_stored_as_maps_if_they_are_smaller() -> None:
    wide = np.random.default_rng(3).normal(size=(4, 5, 64)).astype(np.float32)
    keys = np.random.default_rng(4).normal(size=(2, 7, 64)).astype(np.float32)
    arrays, error = layer_arrays(record(query=wide, key=keys, value=keys))
    assert set(arrays) == {"maps"}
    assert error <= 2**-11


@pytest.fixture(scope="module")
def shown() -> Shown:
    text = "The animal didn't cross the street because it was too tired, and unhesitatingly a dog barked twice."
    return Shown(LocalBackend().trace(TraceRequest(text=text)))


def of(shown: Shown) -> RecordedText:
    return RecordedText(shown.view, shown.summary, shown.selection, "A text")


@pytest.mark.slow
def test_the_file_of_a_text_keeps_its_weights(shown: Shown, tmp_path: Path) -> None:
    content = gzip.decompress(text_file(of(shown))[0])
    header, arrays = decode_frame(content)
    heads = {"layers": header["layers"], "heads": shown.view.heads}
    again = {name: (array, "float16") for name, array in arrays.items()}
    [maps] = computed(tmp_path, [frame(heads, again)])
    tokens = len(shown.view.queries)
    for layer, head in np.ndindex(shown.view.layers, shown.view.heads):
        found = np.reshape(maps[layer][head], (tokens, tokens))
        np.testing.assert_allclose(found, shown.view.weights(layer, head), atol=2e-3)
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-3)


@pytest.mark.slow
def test_the_file_of_a_text_keeps_the_words_of_the_app(shown: Shown) -> None:
    header, arrays = decode_frame(gzip.decompress(text_file(of(shown), ["en", "zh"])[0]))
    words = replace(shown.view, words=True)
    cells = header["words"]["payload"]["queries"]
    assert [(cell["text"], tuple(cell["at"])) for cell in cells] == [(c.text, c.pieces) for c in words.queries]
    means = summarize_heads(words, 48).crowd.means()
    np.testing.assert_allclose(arrays["words.means"], means, atol=1e-3)
    options = header["payload"]["options"] | header["said"]["zh"]["options"]
    assert options.keys() == header["payload"]["options"].keys()
    assert options != header["payload"]["options"]


@pytest.mark.slow
def test_a_text_takes_300_kilobytes_per_32_tokens_of_72_heads(shown: Shown) -> None:
    assert len(text_file(of(shown))[0]) <= 300_000 * len(shown.view.queries) / 32


@pytest.mark.slow
def test_the_page_names_its_files_and_escapes_its_texts(shown: Shown) -> None:
    files = site_files([of(shown)] * 2, "<b>Title</b>", "A & B")
    page = files["index.html"].decode()
    assert "<b>Title" not in page
    assert "A &amp; B" in page
    for name in files:
        assert name in page or name in ("index.html", "worker.js")
    assert sum(map(len, files.values())) < 1_000_000
    assert site_files([of(shown)] * 2, "<b>Title</b>", "A & B") == files  # equal content, equal names


def test_the_line_above_a_view_names_its_model(shown: Shown) -> None:
    page = site_files([replace(of(shown), note="A sentence.")], "Site")["index.html"].decode()
    assert json.dumps(f"Model: {shown.view.trace.model.name} · A sentence.") in page


def test_a_site_needs_a_text() -> None:
    with pytest.raises(ValueError, match="text"):
        site_files([], "Title")


@loop_over("name", ["queries", "keys"])
def test_a_long_text_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Long:
        queries = keys = ("a",)

    long = Long()
    monkeypatch.setattr(long, name, ("a",) * (LONGEST + 1), raising=False)
    with pytest.raises(TooLong, match=str(LONGEST)):
        text_file(RecordedText(long, None, {}, "A text"))  # type: ignore[arg-type]
