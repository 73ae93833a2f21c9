"""The microscope as a standalone HTML file, which contains the maps and needs no server and no network.

Maps of a short text are stored as float16. Maps of a longer text are stored as bytes (square roots of the weights;
attention.codec), with an error of at most 0.004, or 0.008 for signed maps. If not all maps fit, the file has those of
the heads nearest to the selected head. It then also has the selected token's weights in all heads, and a thumbnail of
every head. The page states its contents.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from attention.codec import STORED, signed8, sqrt8
from attention.mask import FloatArray
from attention.measures import HeadSummary
from attention.view import View
from i18n import _, active_language, gettext_lazy, join_sentences, translate
from viz.components.script import escape_json, inline, own_source
from viz.export import TooLong, caption
from viz.static.head import picture
from viz.static.shapes import svg

HERE = Path(__file__).parent
Theme = Literal["auto", "light", "dark"]  # "auto" follows the system
HALVES = 4_000_000  # bytes of maps up to which all maps are float16
LARGE_STILL, SMALL_STILL = 2000, 128  # most tokens of the static picture, in a file and in a notebook's cell
BYTES = 20_000_000  # bytes of maps in a file at most, before base64 adds a third

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
UNSCRIPTED = gettext_lazy("This page needs JavaScript. Use a browser that runs it.")
ELSEWHERE = gettext_lazy("Open the text in Headlight for the others.")
IN_A_FILE = gettext_lazy("A file has more room: .save(path).")  # for a page inside a notebook
LABELS = {
    "model": gettext_lazy("Model"),
    "revision": gettext_lazy("Revision"),
    "weights_sha256": gettext_lazy("SHA-256 of the weights"),
    "architecture": gettext_lazy("Architecture"),
    "text": gettext_lazy("Text"),
    "pair": gettext_lazy("Second text"),
    "target": gettext_lazy("Target text"),
    "tokens_read": gettext_lazy("Tokens read"),
    "truncated": gettext_lazy("Truncated"),
    "part": gettext_lazy("Attention"),
    "index_base": gettext_lazy("Layers, heads and positions count from"),
    "words_merged": gettext_lazy("Pieces merged to words"),
    "special_tokens_shown": gettext_lazy("Special tokens shown"),
    "rows_renormalised": gettext_lazy("Rows scaled to one again"),
    "signed": gettext_lazy("Numbers with signs"),
}


PARTS = {"encoder": gettext_lazy("encoder"), "decoder": gettext_lazy("decoder"), "cross": gettext_lazy("cross")}


def standalone_html(  # noqa: PLR0913  (the parts of the file)
    view: View,
    payload: Mapping[str, Any],
    survey: HeadSummary,
    habits: Mapping[str, Any] | None,
    script: str,
    style: str,
    most: int | None = None,
    theme: Theme = "auto",
) -> str:
    """Return the microscope as a standalone HTML file.

    ``payload``, ``habits`` (the result of ``places``), ``script`` and ``style`` come from viz/components/explore.
    ``most`` limits the bytes of maps; 0 leaves only thumbnails. ``theme`` is "light", "dark", or "auto" for the
    system's theme. Raises TooLong if a file cannot contain even a single head's map.
    """
    selection = payload["selection"]
    maps, inside = _maps(view, selection, BYTES if most is None else most)
    complete = len(maps) == view.layers * view.heads
    asked = None if complete or most == 0 else _focus_data(view, selection)
    embedded = {
        "payload": {**payload, "state": "ready", "message": "" if complete else inside, "base": "", "view": ""},
        "grid": _encode(survey.thumbnails, "signed8" if survey.signed else "sqrt8"),
        "means": _encode(survey.crowd.means(), "float16"),
        "counts": _encode(survey.crowd.counts.astype(np.float32), "float16"),
        "summed": survey.crowd.rows.tolist() if survey.sampled else None,
        "sampled": survey.sampled,
        "habits": habits,
        "maps": maps,
        "asked": asked,
        "absent": translate(join_sentences(inside, ELSEWHERE if most is None else IN_A_FILE)),
    }
    about = caption(view)
    made = _("Made with Headlight.")
    title = f"Headlight · {view.trace.model.name}"
    module = f"{inline(script)}\n{{\n{inline(own_source('standalone/standalone'))}}}\n"
    return f"""<!doctype html>
<html lang="{active_language()}"{"" if theme == "auto" else f' data-theme="{theme}"'}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{html.escape(title)}</title>
<style>{(HERE / "standalone.css").read_text(encoding="utf-8")}{style}</style></head>
<body><h1>{html.escape(title)}</h1>
<main id="view">{_static_map(view, selection, small=most is not None)}</main>
<footer><dl>{_caption_html(about)}</dl><p>{html.escape(translate(join_sentences(inside, made)))}</p></footer>
<script type="application/json" id="embedded">{escape_json(embedded)}</script>
<script type="module">
{module}</script>
</body></html>
"""


def _static_map(view: View, selection: Mapping[str, Any], small: bool) -> str:
    """Return the selected head's map as SVG with a sentence, for browsers that run no script.

    The style sheet hides the map once the script has drawn. A text of more than LARGE_STILL tokens (SMALL_STILL
    with ``small``) has only the sentence.
    """
    said = _("Without JavaScript, this page shows one head.")
    drawn = ""
    if max(len(view.queries), len(view.keys)) <= (SMALL_STILL if small else LARGE_STILL):
        asked = selection["focus"] if selection["facing"] == "out" else None
        drawn = svg(picture(view, selection["layer"], selection["head"], asked), rectangles=0).decode()
    else:
        said = translate(UNSCRIPTED)
    return f'<div class="still"><p>{html.escape(said)}</p>{drawn}</div>'


def _maps(view: View, selection: Mapping[str, Any], most: int) -> tuple[dict[str, dict[str, Any]], str]:
    """Return the maps for the file by "layer.head", at most ``most`` bytes, and a sentence about them."""
    cells, heads = len(view.queries) * len(view.keys), len(view.attending) * view.heads
    one_byte = "signed8" if view.is_signed else "sqrt8"
    coding = "float16" if 2 * cells * heads <= min(HALVES, most) else one_byte
    room = heads if coding == "float16" else min(heads, most // max(1, cells))
    if room == 0 and cells > BYTES:
        raise TooLong(
            gettext_lazy(
                "A page holds at most {most:,} weights; one map has {cells:,}. Shorten the text or save the trace.",
                most=BYTES,
                cells=cells,
            )
        )
    if room == 0:
        return {}, _("Small maps of {heads} heads, as the text is long.", heads=heads)
    chosen = _nearest_heads(view, selection)[:room]
    maps = {f"{layer}.{head}": _encode(view.weights(layer, head), coding) for layer, head in chosen}
    how = (
        _("to three digits")
        if coding == "float16"
        else _("to within {error}", error="0.008")
        if view.is_signed
        else _("to within {error}", error="0.004")
    )
    if room == heads:
        return maps, _("Maps of all {heads} heads; weights {how}.", heads=heads, how=how)
    return maps, _(
        "Maps of the {room} nearest of {heads} heads, small maps of the rest; weights {how}.",
        room=room,
        heads=heads,
        how=how,
    )


def _nearest_heads(view: View, selection: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Return the heads of layers with attention: selected and pinned heads first, then the nearest."""
    first = [(selection["layer"], selection["head"]), *map(tuple, selection.get("pinned", ()))]
    every = [(layer, head) for layer in view.attending for head in range(view.heads)]
    return sorted(every, key=lambda at: (at not in first, abs(at[0] - selection["layer"])))


def _focus_data(view: View, selection: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the selected token's row in all heads, its column if facing "in", or None without a token."""
    out = selection["facing"] == "out"
    at = selection["focus" if out else "target"]
    if at is None:
        return None
    read, kind = (view.rows(at), "rows") if out else (view.columns(at), "columns")
    return {"kind": kind, "at": at, **_encode(read, "float16")}


def _encode(values: FloatArray, coding: str) -> dict[str, Any]:
    coder = {"sqrt8": sqrt8, "signed8": signed8}.get(coding, np.asarray)
    block = np.ascontiguousarray(coder(values), STORED[coding]).tobytes()
    return {"coding": coding, "shape": list(values.shape), "data": base64.b64encode(block).decode()}


def caption_pairs(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the labels and values of a provenance (viz.export.caption) as texts, without empty values."""
    words = {True: _("yes"), False: _("no")} | {part: translate(name) for part, name in PARTS.items()}
    return [
        (translate(LABELS[name]), words[value] if isinstance(value, bool) or name == "part" else str(value))
        for name, value in about.items()
        if value is not None
    ]


def _caption_html(about: Mapping[str, Any]) -> str:
    pairs = caption_pairs(about)
    return "".join(f'<dt>{html.escape(name)}</dt><dd dir="auto">{html.escape(value)}</dd>' for name, value in pairs)
