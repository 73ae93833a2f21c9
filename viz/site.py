"""A static site of recorded texts: a folder of files for any web host, without a server.

The page computes every weight in the browser from the recorded queries and keys, which are stored as float16. Keys are
stored minus their mean over the tokens: this shifts all scores of a row alike, which the softmax ignores, and makes the
rounding smaller. The folder needs no build tools and makes no request to another host.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from attention.codec import frame
from attention.mask import FloatArray
from attention.measures import HeadSummary
from attention.record import AnyRecord, MapRecord, Record
from attention.view import View
from i18n import _, active_language, gettext_lazy, translate
from viz.components.explore.content import payload, script, style
from viz.components.script import escape_json, own_source, stylesheet
from viz.components.standalone.standalone import UNSCRIPTED, caption_pairs
from viz.export import TooLong, caption
from viz.site_live import LiveModel, live_files

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'"
)
LIVE_POLICY = POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")  # for onnxruntime-web
LONGEST = 512  # tokens of a text; every map is computed in the browser
MOST_ERROR = 0.002  # largest difference of a weight; a layer beyond it is stored as finished maps
HALF = np.dtype("<f2")
STORED = 1_000_000  # bytes that the service worker stores at once; more are stored only if a reader opens their texts
Arrays = dict[str, tuple[FloatArray, str]]


@dataclass(frozen=True, eq=False)
class RecordedText:
    """A text for the site, with its first selection.

    ``view`` shows all tokens of a trace. ``title`` is the name of the text in the list; texts with equal titles are
    variants of each other, which ``label`` distinguishes. ``note`` is a sentence above the view. ``priors`` is the
    result of ``viz.components.explore.content.places``.
    """

    view: View
    summary: HeadSummary
    selection: Mapping[str, Any]
    title: str
    label: str = ""
    note: str = ""
    priors: Mapping[str, Any] | None = None


def site_files(
    texts: Sequence[RecordedText], title: str, citation: str = "", live: LiveModel | None = None
) -> dict[str, bytes]:
    """Return the files of a site, by their path in its folder; with ``live``, the page can run that model.

    The names of scripts and texts contain a hash of their content, so that a browser never mixes two versions. Raise
    TooLong if a text has more than LONGEST tokens, and ValueError for no text.
    """
    if not texts:
        raise ValueError("A site needs at least one text.")
    files: dict[str, bytes] = {}
    packed = [text_file(text) for text in texts]
    named = [_add(files, "texts/text", "bin", content) for content, _error in packed]
    errors = [error for _content, error in packed]
    code = _add(files, "site", "js", script("site/site").encode())
    look = _add(
        files, "site", "css", (stylesheet("standalone/standalone", "site/site", "matrices/matrices") + style()).encode()
    )
    contents = _contents(texts, named, errors)
    asked: dict[str, bytes] = {}  # the files that a reader has to ask for
    if live is not None:
        contents["live"] = live_files(live, partial(_add, asked))
    files["index.html"] = _page(title, citation, contents, code, look).encode()
    files["worker.js"] = _worker(files, named)
    return files | asked


def _add(files: dict[str, bytes], name: str, ending: str, content: bytes) -> str:
    place = f"{name}-{hashlib.sha256(content).hexdigest()[:12]}.{ending}"
    files[place] = content
    return place


def _worker(files: Mapping[str, bytes], texts: Sequence[str]) -> bytes:
    """Return the service worker, which stores the page, its scripts and the first texts, at most STORED bytes."""
    version = hashlib.sha256(b"".join(files.values())).hexdigest()[:16]
    stored, room = ["./", *(name for name in files if name not in texts and name != "index.html")], STORED
    room -= sum(len(content) for name, content in files.items() if name not in texts)
    for name in dict.fromkeys(texts):
        room -= len(files[name])
        if room >= 0:
            stored.append(name)
    source = own_source("site/worker").replace("SITE_VERSION", version)
    return source.replace('["SITE_FILES"]', json.dumps(stored)).encode()


def text_file(text: RecordedText) -> tuple[bytes, float]:
    """Return the file of a text for viz/components/site/recorded.js, and the largest difference of a weight.

    The file has the payload, queries and keys, with gzip. The difference is between the weights that the browser
    computes and those of the trace; it comes from the rounding to float16. Raise TooLong if the text has more than
    LONGEST tokens.
    """
    view, summary = text.view, text.summary
    tokens = max(len(view.queries), len(view.keys))
    if tokens > LONGEST:
        raise TooLong(
            gettext_lazy(
                "A text of a site has at most {most} tokens; this text has {tokens:,}. Shorten it.",
                most=LONGEST,
                tokens=tokens,
            )
        )
    records = view.trace.records(view.part)
    arrays: Arrays = {
        "means": (summary.crowd.means(), "float16"),
        "counts": (summary.crowd.counts.astype(np.float32), "float16"),
    }
    largest = 0.0
    for layer in view.attending:
        found, error = layer_arrays(records[layer])
        arrays.update((f"{name}.{layer}", array) for name, array in found.items())
        largest = max(largest, error)
    header = {
        "payload": payload(view, summary, text.selection, "", ""),
        "layers": [mask_rules(record) for record in records],
        "summed": summary.crowd.rows.tolist() if summary.sampled else None,
        "sampled": summary.sampled,
        "habits": text.priors,
    }
    return gzip.compress(frame(header, arrays), mtime=0), largest


def mask_rules(record: AnyRecord) -> dict[str, Any]:
    """Return the rules of a layer's mask and its soft cap, without those that it does not have."""
    if not isinstance(record, Record):
        return {}
    mask = record.mask
    rules = {"causal": mask.causal, "left": mask.left, "right": mask.right, "softcap": record.softcap}
    return {name: value for name, value in rules.items() if value not in (None, False)}


def layer_arrays(record: AnyRecord) -> tuple[Arrays, float]:
    """Return the arrays of a layer with their codings, and the largest difference of a weight.

    A layer is stored as finished maps if it has no queries and keys, or if float16 changes a weight by more than
    MOST_ERROR.
    """
    if not isinstance(record, Record):
        assert isinstance(record, MapRecord)
        return _finished_maps(record.maps)
    key = record.key
    if record.softcap is None and record.sinks is None:
        key = key - key.mean(axis=1, keepdims=True)
    exact = np.stack([record.weights(head) for head in range(record.heads)])
    with np.errstate(over="ignore"):  # the difference of an overflow is infinite
        query, key = ((array.astype(HALF)).astype(np.float32) for array in (record.query * record.scale, key))
    error = float("inf")
    if np.isfinite(query).all() and np.isfinite(key).all():
        half = replace(record, query=query, key=key, scale=1.0, lse=None)
        error = float(max(np.abs(half.weights(head) - exact[head]).max() for head in range(record.heads)))
    if not error <= MOST_ERROR:
        return _finished_maps(exact)
    arrays: Arrays = {"query": (query, "float16"), "key": (key, "float16")}
    if record.bias is not None:
        arrays["bias"] = (record.bias, "float32")
    if record.sinks is not None:
        arrays["sinks"] = (record.sinks, "float32")
    if record.mask.allowed is not None:
        arrays["hidden"] = ((~record.mask.allowed).astype(np.float32), "sqrt8")
    return arrays, error


def _finished_maps(maps: FloatArray) -> tuple[Arrays, float]:
    error = float(np.abs(maps.astype(HALF).astype(np.float32) - maps).max(initial=0))
    return {"maps": (maps, "float16")}, error


def _contents(texts: Sequence[RecordedText], files: Sequence[str], errors: Sequence[float]) -> dict[str, Any]:
    """Return the list of texts for site.js; texts with equal titles are variants of an entry."""
    entries: dict[str, list[dict[str, Any]]] = {}
    for text, file, error in zip(texts, files, errors, strict=True):
        about = dict(caption_pairs(caption(text.view)))
        about[_("Largest rounding error")] = f"{error:.1g}"
        variant = {"file": file, "label": text.label, "note": text.note, "about": about}
        entries.setdefault(text.title, []).append(variant)
    return {"texts": [{"title": title, "variants": variants} for title, variants in entries.items()]}


def _page(title: str, citation: str, contents: Mapping[str, Any], code: str, look: str) -> str:
    cited = f"<p>{html.escape(citation)}</p>" if citation else ""
    return f"""<!doctype html>
<html lang="{active_language()}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{LIVE_POLICY if "live" in contents else POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="generator" content="Headlight">
<title>{html.escape(title)}</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="{look}"></head>
<body><h1>{html.escape(title)}</h1>
<nav id="texts" aria-label="{html.escape(_("Texts"))}"></nav>
<div id="variants" role="group" aria-label="{html.escape(_("Variants"))}"></div>
{f'<section id="live" aria-label="{html.escape(_("Your text"))}"></section>' if "live" in contents else ""}
<p id="note"></p><p id="error" role="alert"></p>
<main id="view"><div class="still"><p>{html.escape(translate(UNSCRIPTED))}</p></div></main>
<footer><dl id="about"></dl>{cited}<p>{html.escape(_("Made with Headlight."))}</p></footer>
<script type="application/json" id="contents">{escape_json(contents)}</script>
<script type="module" src="{code}"></script>
</body></html>
"""
