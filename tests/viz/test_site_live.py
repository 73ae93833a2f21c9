"""Texts that the browser reads and summarises, against Python; and the files of other projects."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from attention.codec import decode_frame, frame
from attention.similarity import pooling_shares, similarity_table
from headlight.command_input import positional_prior_of
from headlight.notebook import Shown
from headlight.site_lessons import LIVE_CHECKS
from i18n import LazyMessage, translate, use_language
from inference import LocalBackend, TraceRequest
from inference.browser.export import POOLINGS, ROWS, row_files, tokenizer_file
from inference.files import embedded
from lessons.answer_key import CheckContext, CheckInput, Unanswerable
from lessons.checks import truth
from lessons.schema import CheckCall
from tests.support.cases import loop_over
from tests.support.deno_scripts import run_script
from viz import site_live
from viz.components.explore.content import places
from viz.components.script import translated_words
from viz.site_live import LICENCES, RUNTIME, TOKENIZERS, VENDOR, WASM, NoVendor, check_file, vendor_file

# The SHA-256 of ort-wasm-simd-threaded.wasm in onnxruntime-web 1.30.0.
PUBLISHED_WASM = "3398c10d07d229bd91b364548e130e0e51a8e5704b88c7c083ebbeb78842dee2"
TEXTS: list[tuple[str, str | None]] = [
    ("The animal didn't cross the street because it was too tired.", None),
    ("Hello, hello HELLO! Is it 3.5% (again) – or not?", None),
    ("Ünïcödé naïve café: 猫 and 汉字, 😀 don't stop; antidisestablishmentarianism.", None),
    ("The cat sat on the mat.", "It was warm, so the cat slept."),
    ("a", None),
]
# Prints the reading of each text, and the summary of its maps.
READ = """
import { Tokenizer } from "%(vendor)s/tokenizers.min.mjs";
import { decodeFrame } from "%(components)s/shared/frames.js";
import { readText } from "%(components)s/site/live_cells.js";
import { summarize } from "%(components)s/site/live_summary.js";
const tokenizer = new Tokenizer(JSON.parse(Deno.readTextFileSync(Deno.args[0])), {});
const found = Deno.args.slice(1).map((name) => {
  const { header: { text, pair, habits, layers, heads }, arrays } = decodeFrame(Deno.readFileSync(name).buffer);
  const reading = readText(tokenizer, text, pair);
  const size = reading.ids.length ** 2;
  const maps = (layer, head) => arrays[`maps.${layer}`].data.subarray(head * size, (head + 1) * size);
  const summary = summarize(maps, { layers, heads }, reading.cells, reading.written, habits);
  return { ...reading, ...summary, means: [...summary.means], counts: [...summary.counts] };
});
console.log(JSON.stringify(found));
"""
TABLE = """
import { createTable } from "%(components)s/site/live_model.js";
const [rowsPerFile, channels] = [Number(Deno.args[0]), Number(Deno.args[1])];
const rows = Deno.args.slice(2);
const table = createTable({ rows, rowsPerFile, channels }, async (file) => Deno.readFileSync(file).buffer);
console.log(JSON.stringify([...await table([rowsPerFile, 0, rowsPerFile - 1])]));
"""


@pytest.fixture(scope="module")
def shown() -> list[Shown]:
    backend = LocalBackend()
    found = []
    for text, pair in TEXTS:
        request = TraceRequest(text=text, pair=pair)
        trace = backend.trace(request)
        found.append(Shown(trace, known=positional_prior_of(backend, request, trace)))
    return found


@pytest.fixture(scope="module")
def folder(shown: list[Shown], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the tokenizer, and with a file of each text and its maps."""
    folder = tmp_path_factory.mktemp("texts")
    (folder / "tokenizer.json").write_bytes(tokenizer_file(embedded.folder()))
    for at, each in enumerate(shown):
        view = each.view
        maps = {f"maps.{layer}": np.stack([view.weights(layer, head) for head in range(12)]) for layer in range(6)}
        header: dict[str, Any] = {"text": TEXTS[at][0], "pair": TEXTS[at][1], "habits": places(each.known, view)}
        header |= {"layers": view.layers, "heads": view.heads}
        content = frame(header, {name: (array, "float32") for name, array in maps.items()})
        (folder / f"{at}.bin").write_bytes(content)
    return folder


@pytest.fixture(scope="module")
def read(folder: Path) -> list[dict[str, Any]]:
    files = [folder / f"{at}.bin" for at in range(len(TEXTS))]
    found: list[dict[str, Any]] = run_script(READ, folder / "tokenizer.json", *files)
    return found


@pytest.mark.slow
def test_the_browser_reads_the_same_tokens(shown: list[Shown], read: list[dict[str, Any]]) -> None:
    for each, found in zip(shown, read, strict=True):
        row = each.trace.source
        assert tuple(found["ids"]) == row.ids
        cells = [(cell.text, cell.special, cell.segment, cell.word, cell.unknown) for cell in each.view.queries]
        fields = ("text", "special", "segment", "word")
        assert [(*(cell[name] for name in fields), cell.get("unknown", "")) for cell in found["cells"]] == cells


@pytest.mark.slow
def test_the_browser_computes_the_same_summary(shown: list[Shown], read: list[dict[str, Any]]) -> None:
    for each, found in zip(shown, read, strict=True):
        summary = each.summary
        assert {"entropy", "distance", "punctuation", "same"} <= set(found["measures"]) <= set(summary.measures)
        for name, values in found["measures"].items():
            np.testing.assert_allclose(values, summary.measures[name], atol=1e-5, err_msg=name)
        np.testing.assert_allclose(
            np.reshape(found["means"], summary.crowd.sums.shape), summary.crowd.means(), atol=1e-6
        )
        np.testing.assert_array_equal(np.reshape(found["counts"], summary.crowd.counts.shape), summary.crowd.counts)
        link = summary.own.best(each.view, each.known)
        best = found["best"]
        assert (link and (link.layer, link.head, link.query)) == (best and (best["layer"], best["head"], best["focus"]))


@pytest.mark.slow
def test_the_browser_decodes_rows_of_the_embedding_table(tmp_path: Path) -> None:
    table = np.random.default_rng(0).normal(size=(ROWS + 2, 6)).astype(np.float32)
    files = []
    for at, content in enumerate(row_files({"embeddings.word_embeddings.weight": table})):
        files.append(tmp_path / f"{at}.bin")
        files[-1].write_bytes(content)
    found = np.reshape(run_script(TABLE, str(ROWS), "6", *files), (3, 6))
    np.testing.assert_allclose(found, table[[ROWS, 0, ROWS - 1]], atol=1e-4)


@loop_over("name", [RUNTIME, WASM, TOKENIZERS, *LICENCES])
def test_files_of_other_projects_have_their_hashes(name: str) -> None:
    content = vendor_file(name)
    if name == WASM:
        assert hashlib.sha256(gzip.decompress(content)).hexdigest() == PUBLISHED_WASM


def test_every_file_of_other_projects_is_listed() -> None:
    about = (VENDOR / "README.md").read_text(encoding="utf-8")
    assert PUBLISHED_WASM in about
    for file in VENDOR.iterdir():
        assert file.name in ("README.md", "SHA256SUMS", *LICENCES) or file.name in about


def test_a_changed_or_missing_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_live, "VENDOR", tmp_path)
    with pytest.raises(NoVendor):
        vendor_file(RUNTIME)
    (tmp_path / RUNTIME).write_text("changed")
    (tmp_path / "SHA256SUMS").write_text((VENDOR / "SHA256SUMS").read_text(encoding="utf-8"))
    with pytest.raises(NoVendor):
        vendor_file(RUNTIME)


@pytest.mark.slow
def test_the_weights_to_compare_with_are_exact(shown: list[Shown]) -> None:
    _, arrays = decode_frame(gzip.decompress(check_file(shown[0].view)))
    np.testing.assert_array_equal(arrays["maps.3"][1], shown[0].view.weights(3, 1))
    assert list(arrays) == [f"maps.{layer}" for layer in range(6)]


SIMILARITY = """
import { similarityOf } from "%(components)s/site/live_similarity.js";
const [a, b] = JSON.parse(Deno.readTextFileSync(Deno.args[0]));
const states = ([shape, data]) => ({ shape, data: Float32Array.from(data) });
console.log(JSON.stringify(["mean", "first", "last"].map((pooling) => {
  const { cosine, table } = similarityOf(states(a), states(b), pooling);
  return [cosine, [...table]];
})));
"""


@pytest.mark.slow
def test_the_browser_computes_the_same_similarity(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    a, b = (random.normal(size=(tokens, 5)).astype(np.float32) for tokens in (3, 4))
    (tmp_path / "states.json").write_text(json.dumps([[array.shape, array.ravel().tolist()] for array in (a, b)]))
    found = run_script(SIMILARITY, tmp_path / "states.json")
    for (cosine, table), pooling in zip(found, POOLINGS, strict=True):
        expected = similarity_table(*(pooling_shares(array, (False,) * len(array), pooling) for array in (a, b)))
        np.testing.assert_allclose(cosine, expected.cosine, atol=1e-6)
        np.testing.assert_allclose(np.reshape(table, (3, 4)), expected.table, atol=1e-6)


HEAD = {"layer": 3, "head": 1}
# The number of a text, a check, and its arguments.
CHECKED: list[tuple[int, str, dict[str, Any]]] = [
    *((0, name, {**HEAD, "word": "IT", "to": "animal"}) for name in ("weight", "usual", "weight_rank")),
    *((0, name, {"word": "it", "to": "animal"}) for name in ("head_linking", "head_giving_most")),
    (0, "usual", {**HEAD, "word": "[CLS]", "to": "it"}),
    (1, "weight", {"layer": 2, "head": 4, "word": "hello#3", "to": "hello"}),
    (2, "weight_rank", {**HEAD, "word": "##dis", "to": "猫 [UNK]"}),
    (3, "preferred", {**HEAD, "word": "it", "to": "cat#2", "over": "mat"}),
    (3, "heads_preferring", {"word": "it", "to": "cat", "over": "mat"}),
    *((0, "most_looked_at", {"layer": 5, "head": 3, "word": ".", "special": special}) for special in (True, False)),
    *((2, "head_at_offset", {"offset": offset}) for offset in (-1, 2)),
    (3, "most_to_later", {}),
    (4, "usual", {**HEAD, "word": "a", "to": "a"}),  # without other words
    (4, "head_at_offset", {"offset": 1}),  # without an answer
    (4, "weight", {**HEAD, "word": "it", "to": "a"}),
    (4, "weight", {**HEAD, "word": "a#2", "to": "a"}),
]
CHECK = """
import { Tokenizer } from "%(vendor)s/tokenizers.min.mjs";
import { decodeFrame } from "%(components)s/shared/frames.js";
import { speak } from "%(components)s/shared/words.js";
import { readText } from "%(components)s/site/live_cells.js";
import { checkSentence } from "%(components)s/site/live_checks.js";
const [tokenizerFile, casesFile, folder] = Deno.args;
const tokenizer = new Tokenizer(JSON.parse(Deno.readTextFileSync(tokenizerFile)), {});
const { words, cases } = JSON.parse(Deno.readTextFileSync(casesFile));
speak(words);
const found = cases.map(({ at, check }) => {
  const content = Deno.readFileSync(`${folder}/${at}.bin`).buffer;
  const { header: { text, pair, layers, heads }, arrays } = decodeFrame(content);
  const { cells } = readText(tokenizer, text, pair);
  const size = cells.length ** 2;
  const maps = [];
  for (let layer = 0; layer < layers; layer++) {
    const { data } = arrays[`maps.${layer}`];
    for (let head = 0; head < heads; head++) maps.push(data.subarray(head * size, (head + 1) * size));
  }
  try {
    return checkSentence(check, { maps, heads, cells });
  } catch (error) {
    return error.message;
  }
});
console.log(JSON.stringify(found));
"""


class Recorded:
    """A backend that has traced a single text."""

    def __init__(self, shown: Shown) -> None:
        self.trace = lambda _request: shown.trace


def checked(shown: Shown, name: str, given: dict[str, Any]) -> LazyMessage:
    """Return the app's sentence of a check, or the reason why there is none."""
    try:
        return truth(CheckCall(name, tuple(given.items())), CheckContext(Recorded(shown), CheckInput("", ""))).said  # type: ignore[arg-type]
    except Unanswerable as error:
        return cast(LazyMessage, error.args[0])


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_browser_states_the_answers_of_checks(shown: list[Shown], folder: Path, language: str) -> None:
    said = [checked(shown[at], name, given) for at, name, given in CHECKED]
    with use_language(language):
        cases = [
            {"at": at, "check": {"name": name, "given": given, "template": translate(LazyMessage(each.template))}}
            for (at, name, given), each in zip(CHECKED, said, strict=True)
        ]
        asked = {"words": translated_words("site/site"), "cases": cases}
        (folder / "cases.json").write_text(json.dumps(asked), encoding="utf-8")
        found = run_script(CHECK, folder / "tokenizer.json", folder / "cases.json", folder)
        assert found == [translate(each) for each in said]
    assert {name for _at, name, _given in CHECKED} == set(LIVE_CHECKS)
