"""The files with which a static site runs a model in the browser: runtime, model, tokenizer and first texts.

The scripts of other projects are in assets/vendor/, with their hashes and licences. A page downloads these files only
at its reader's request.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attention.codec import frame
from attention.measures import HeadSummary
from attention.view import View
from i18n import use_language
from viz.components.explore.content import payload
from viz.components.script import script

VENDOR = Path(__file__).resolve().parents[1] / "assets" / "vendor"
SUMS = "SHA256SUMS"  # in the format of the command sha256sum
RUNTIME, WASM, TOKENIZERS = "ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm.gz", "tokenizers.min.mjs"
LICENCES = ("LICENSE-onnxruntime.txt", "LICENSE-tokenizers.txt")
LONGEST = 128  # tokens of a text; each may need a file of the embedding table
Add = Callable[[str, str, bytes], str]  # adds a file by its name, ending and content, and returns its path


class NoVendor(ValueError):
    """Raised if the scripts of other projects are missing or changed; the message is one sentence."""


@dataclass(frozen=True, eq=False)
class OpenedText:
    """A text that was run in Python: its view of all tokens, its summary, and its first selection."""

    view: View
    summary: HeadSummary
    selection: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class LiveModel:
    """A model that a static site runs in the browser.

    ``graph`` (an ONNX file), ``rows`` (files of the embedding table) and ``tokenizer`` come from
    inference.browser.export. ``pooling`` is "mean", "first" or "last", or None if the page shows no similarity of
    texts. ``single`` and ``pair`` are a text and a pair, whose view options are used for other texts. As a check, the
    page computes ``single`` again and states the largest difference. ``priors`` is the result of
    ``viz.components.explore.content.places``.
    """

    name: str
    layers: int
    heads: int
    channels: int
    graph: bytes
    rows: tuple[bytes, ...]
    rows_per_file: int
    tokenizer: bytes
    pooling: str | None
    single: OpenedText
    pair: OpenedText
    priors: Mapping[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class LiveMasks:
    """A model that predicts masked words in the browser: its name, and the files that inference.browser.export made."""

    name: str
    graph: bytes
    tokenizer: bytes


def vendor_file(name: str) -> bytes:
    """Return a file of assets/vendor/; raise NoVendor if it is missing or differs from its hash."""
    try:
        content, sums = (VENDOR / name).read_bytes(), (VENDOR / SUMS).read_text(encoding="utf-8")
    except OSError as error:
        raise NoVendor(f"{name} is missing. Install headlight-attention-app, or fetch assets/vendor.") from error
    if f"{hashlib.sha256(content).hexdigest()}  {name}" not in sums.splitlines():
        raise NoVendor(f"{name} is not the published file. Fetch assets/vendor again.")
    return content


def live_files(model: LiveModel, add: Add, languages: Sequence[str]) -> dict[str, Any]:
    """Add the files of a model to a site; return the part of the page's contents that refers to them.

    The function ``add`` stores a file and returns its path. In the result, ``bytes`` is the size of the download before
    the first text.
    """
    for name in LICENCES:
        add(f"live/{Path(name).stem}", "txt", vendor_file(name))
    files = _runtime_files(add, ("model", "onnx", model.graph), model.tokenizer)
    manifest = {
        **{field: getattr(model, field) for field in ("name", "layers", "heads", "channels", "pooling")},
        "longest": LONGEST,
        "files": files,
        "rows": [add("live/rows", "bin", content) for content in model.rows],
        "rowsPerFile": model.rows_per_file,
        "templates": {code: _templates(model, code) for code in languages},
        "habits": model.priors,
        "check": {
            "text": model.single.view.trace.text,
            "maps": add("live/check", "bin", check_file(model.single.view)),
        },
    }
    place = add("live/model", "json", json.dumps(manifest, separators=(",", ":")).encode())
    return _offer(place, model.name, files)


def mask_files(model: LiveMasks, add: Add) -> dict[str, Any]:
    """Add the files of a model for masked words; return the part of the page's contents that refers to them.

    The graph consists of 16-bit numbers. The first bytes of all numbers are stored before all second bytes, because
    gzip then compresses them twice as well.
    """
    parted = gzip.compress(model.graph[::2] + model.graph[1::2], mtime=0)
    files = _runtime_files(add, ("masks", "onnx.gz", parted), model.tokenizer)
    manifest = {"name": model.name, "longest": LONGEST, "files": files}
    place = add("live/masks", "json", json.dumps(manifest, separators=(",", ":")).encode())
    return _offer(place, model.name, files)


def _runtime_files(add: Add, graph: tuple[str, str, bytes], tokenizer: bytes) -> dict[str, Any]:
    """Add the files that run a graph, which is given with its name and its ending; return them by their kinds."""
    contents = {
        "runtime": ("ort", "mjs", vendor_file(RUNTIME)),
        "wasm": ("ort", "wasm.gz", vendor_file(WASM)),
        "tokenizers": ("tokenizers", "mjs", vendor_file(TOKENIZERS)),
        "worker": ("worker", "js", script("site/live_worker").encode()),
        "graph": graph,
        "tokenizer": ("tokenizer", "json.gz", gzip.compress(tokenizer, mtime=0)),
    }
    return {
        kind: {"file": add(f"live/{name}", ending, content), "bytes": len(content)}
        for kind, (name, ending, content) in contents.items()
    }


def _offer(manifest: str, name: str, files: Mapping[str, Any]) -> dict[str, Any]:
    return {"manifest": manifest, "name": name, "bytes": sum(each["bytes"] for each in files.values())}


def _templates(model: LiveModel, language: str) -> dict[str, Any]:
    with use_language(language):
        return {"single": _template(model.single), "pair": _template(model.pair)}


def _template(text: OpenedText) -> dict[str, Any]:
    """Return the payload of a text without the fields that the browser computes for another text."""
    found = payload(text.view, text.summary, text.selection, "", "")
    measures = [{**measure, "values": []} for measure in found["measures"]]
    return {**found, "queries": [], "keys": None, "measures": measures}


def check_file(view: View) -> bytes:
    """Return the weights of every head on a text as a gzip file, (head, query, key) float32 for each layer.

    The page compares its own results with them.
    """
    maps = {
        f"maps.{layer}": (np.stack([view.weights(layer, head) for head in range(view.heads)]), "float32")
        for layer in range(view.layers)
    }
    return gzip.compress(frame({}, maps), mtime=0)
