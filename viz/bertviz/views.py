"""BertViz's head, model and neuron views of a trace, as complete HTML documents."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import replace
from math import isqrt, sqrt
from typing import Any

import numpy as np

from attention.mask import FloatArray
from attention.record import Record, Unavailable, first_attending
from attention.trace import PARTS, attention_everywhere
from attention.view import DisplayToken, View
from i18n import LazyMessage, _, active_language, gettext_lazy, join_sentences, translate
from viz.bertviz.vendor import BRIDGE, LIBRARIES, vendor, version
from viz.components.script import escape_json, inline
from viz.figures.theme import truncate

STEPS = 32767
NAMES = {
    "encoder": gettext_lazy("Encoder"),
    "decoder": gettext_lazy("Decoder"),
    "cross": gettext_lazy("Cross: decoder to encoder"),
}
PAIRS = (
    gettext_lazy("Sentence A → Sentence A"),
    gettext_lazy("Sentence B → Sentence B"),
    gettext_lazy("Sentence A → Sentence B"),
    gettext_lazy("Sentence B → Sentence A"),
)
# Texts that BertViz's scripts print; PATCHES of vendor.py replaces each by a look-up of its translation.
SAID = (
    gettext_lazy("Heads"),
    gettext_lazy("Layers"),
    gettext_lazy("Layer {layer}, Head {head}"),
    gettext_lazy("Query "),
    gettext_lazy("Key "),
    gettext_lazy("q × k (elementwise)"),
    gettext_lazy("No token is selected"),
)
TITLES = {
    "head": gettext_lazy("BertViz head view"),
    "model": gettext_lazy("BertViz model view"),
    "neuron": gettext_lazy("BertViz neuron view"),
}

# BertViz's head view has no dark mode and its model view draws axis labels in black; these rules supply both.
STYLE = """
body { margin: 0; padding: 8px 12px; font: 14px "Helvetica Neue", Helvetica, Arial, "PingFang SC", "Microsoft YaHei",
  "Noto Sans CJK SC", sans-serif; overflow: auto }
#vis svg { overflow: visible; min-width: %(width)dpx }
#vis { min-height: %(height)dpx }
p { margin: 8px 0; max-width: 60em }
select { font: inherit; margin-right: 12px }
body.dark { background: #121417; color: #e9e9e6; color-scheme: dark }
body.more::after { content: ""; position: fixed; inset: 0 0 0 auto; width: 36px; pointer-events: none;
  background: linear-gradient(to left, #fff, transparent) }
body.dark.more::after { background: linear-gradient(to left, #121417, transparent) }
.dark .head text, .dark .model svg > text { fill: #e9e9e6 }
.dark .head .background { fill: #444 }
.dark .neuron, .dark .model svg { background-color: #121417 !important }
.dark .model .attn_background { fill: #121417 }
#bertviz { padding-left: 30px !important }
"""


def head_html(
    view: View, *, prefix: str | None = None, dark: bool = False, layer: int = 0, heads: Sequence[int] | None = None
) -> str:
    """Return the head view as HTML: two columns of tokens and a line for each weight, one layer at a time.

    ``prefix`` is the path under which the page serves ``vendor``. If ``prefix`` is None, the scripts are embedded, so
    that the document can be opened as a file. ``layer`` and ``heads`` (None for all) are selected at first; both count
    from 0.
    """
    views = views_in_document(view)
    payload = {
        "layer": layer,
        "heads": None if heads is None else list(heads),
        "parts": [_part(v) for v in views],
    }
    hint = _("Point at a token for its lines only. Click a square to toggle a head; double-click for that head alone.")
    return document("head", view, payload, prefix=prefix, dark=dark, hint=hint)


def model_html(view: View, *, prefix: str | None = None, dark: bool = False) -> str:
    """Return the model view as HTML: a grid of thumbnails with a row for each layer and a column for each head.

    A thumbnail shows the weights of its head as lines; a click enlarges it. The parameters are those of ``head_html``.
    """
    payload = {"parts": [_part(v) for v in views_in_document(view)]}
    hint = _("Click a map to enlarge or close it. Once enlarged, point at a token on the left.")
    return document("model", view, payload, prefix=prefix, dark=dark, hint=hint)


def views_in_document(view: View) -> list[View]:
    """Return a view for each stack that a document can offer, beginning with the stack of ``view``.

    BertViz needs equal numbers of layers and heads, so a stack with other numbers is left out.
    """
    first = view.part or view.trace.part
    others = [replace(view, part=name) for name in PARTS if name in view.trace.parts and name != first]
    same = [other for other in others if (other.layers, other.heads) == (view.layers, view.heads)]
    return [replace(view, part=first), *same]


def document(  # noqa: PLR0913  (keyword options of a document)
    kind: str, view: View, payload: dict[str, Any], *, prefix: str | None, dark: bool, hint: str, notes: str = ""
) -> str:
    """Return the HTML document of a BertViz view, with its controls, data and captions.

    ``kind`` is "head", "model" or "neuron", and ``payload`` its data for bridge.js. ``hint`` is the text above the
    view; ``notes`` is part of the text below it.
    """
    defaults = {"layer": None, "heads": None, "head": None, "causal": False}
    shared = {
        "mode": "dark" if dark else "light",
        "layers": list(range(view.layers)),
        "said": {str(one): translate(one) for one in SAID},
    }
    data = escape_json({**defaults, **shared, **payload})
    title = f"{translate(TITLES[kind])} · {view.trace.model.name}"
    style = STYLE % {"width": WIDTHS[kind], "height": height(kind, view) - MARGINS}
    without = [str(layer) for layer in range(view.layers) if layer not in view.attending]
    missing = _("Layers without attention have no lines: {layers}.", layers=", ".join(without)) if without else ""
    drawn = _(
        "Layers and heads count from 0. Weights have four decimals. Drawn by BertViz {version} "
        "(Jesse Vig, Apache-2.0).",
        version=version(),
    )
    about = drawn
    for note in filter(None, (missing, notes)):
        about = _("{first} {then}", first=note, then=about)
    return f"""<!doctype html>
<html lang="{active_language()}"><head><meta charset="utf-8"><title>{html.escape(title)}</title>
{"" if prefix else OFFLINE_POLICY}<style>{style}</style></head>
<body class="{"dark" if dark else "light"}">
<p>{html.escape(hint)}</p>
<div id="bertviz" class="{kind}">{_controls(kind, payload["parts"])}<div id="vis"></div></div>
<p>{html.escape(about.strip())}</p>
<script type="application/json" id="payload">{data}</script>
{_scripts((*LIBRARIES, BRIDGE.name, f"{kind}_view.js"), prefix)}
</body></html>
"""


OFFLINE_POLICY = (
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n"
)

# The width in pixels that each of BertViz's scripts needs for its drawing.
WIDTHS = {"head": 360, "model": 970, "neuron": 1020}
MARGINS = 150  # pixels for the hint, the controls and the note


def height(kind: str, view: View) -> int:
    """Return the height in pixels at which a document of this kind needs no scrolling.

    The height may exceed the screen, so callers should limit the frame.
    """
    views = [view] if kind == "neuron" else views_in_document(view)
    tokens = max(max(len(v.queries), len(v.keys)) for v in views)
    if kind == "head":
        drawing = tokens * 22.5 + 30
    elif kind == "model":
        thumbnails = view.layers * (tokens * 84 / view.heads + 10) + 38
        drawing = max(thumbnails, tokens * 18 + 55)
    else:
        drawing = tokens * 26 + 100
    return int(drawing) + MARGINS


def pack(values: FloatArray, top: float) -> dict[str, Any]:
    """Encode an array for bridge.js as 16-bit integers in base64; numbers are from -``top`` to ``top``.

    >>> pack(np.array([0.0, 1.0], np.float32), 1.0)["data"]
    'AAD/fw=='
    """
    steps = np.rint(np.clip(values * (STEPS / top), -STEPS, STEPS)).astype("<i2")
    return {"shape": list(values.shape), "unit": top / STEPS, "data": base64.b64encode(steps.tobytes()).decode()}


def split(cells: Sequence[DisplayToken]) -> int | None:
    """Return the index in a list of tokens or words at which the second text begins, or None for a single text."""
    start = next((i for i, cell in enumerate(cells) if cell.segment == 1), None)
    return start or None


def sides(view: View) -> dict[str, Any]:
    """Return the labels of a view's queries and keys for BertViz, and the name of its stack.

    Queries are on the left side, keys on the right. For a pair of texts, ``split`` has the index of the second text's
    first token on each side; otherwise it is None.
    """
    rows, cols = split(view.queries), split(view.keys)
    return {
        "name": translate(NAMES[view.part or view.trace.part]),
        "left": [truncate(cell.label) for cell in view.queries],
        "right": [truncate(cell.label) for cell in view.keys],
        "split": [rows, cols] if rows and cols else None,
    }


def weights(view: View) -> list[dict[str, Any]]:
    """Return the weights of each layer, shape (head, query, key), encoded for bridge.js."""
    layers = range(view.layers)
    return [pack(np.stack([view.weights(layer, head) for head in range(view.heads)]), 1.0) for layer in layers]


def _part(view: View) -> dict[str, Any]:
    return {**sides(view), "weights": weights(view)}


def _controls(kind: str, parts: Sequence[dict[str, Any]]) -> str:
    """Return the HTML of the select boxes that BertViz's scripts fill and listen to."""
    label = '<label class="dropdown-label">{} <select id="{}">{}</select></label>'
    boxes = {"head": ["layer"], "model": [], "neuron": ["layer", "att_head"]}[kind]
    controls = [label.format(_("Layer") if name == "layer" else _("Head"), name, "") for name in boxes]
    whole = [_("All")] if len(parts) == 1 else [part["name"] for part in parts]
    names = [
        name
        for all_, part in zip(whole, parts, strict=True)
        for name in (all_, *(map(translate, PAIRS) if part["split"] else ()))
    ]
    if len(names) > 1:
        options = "".join(f'<option value="{i}">{html.escape(name)}</option>' for i, name in enumerate(names))
        controls.append(label.format(_("Attention"), "filter", options))
    return "".join(controls)


def _scripts(names: Sequence[str], prefix: str | None) -> str:
    if prefix is not None:
        return "\n".join(f'<script src="{html.escape(f"{prefix}/{name}")}"></script>' for name in names)
    return "\n".join(f"<script>{inline(vendor(name).decode())}</script>" for name in names)


MOST_ELEMENTS = 300_000
MOST_BYTES = 8_000_000
BYTES_PER_NUMBER = 8 / 3  # a number takes 16 bits, which base64 lengthens by a third


def budget(kind: str, layers: int, heads: int, channels: int = 64) -> int:
    """Return the largest number of tokens that a view ("head", "model" or "neuron") can show.

    ``channels`` is the width of a query, which matters to the neuron view only.

    >>> budget("model", 6, 12), budget("head", 6, 12), budget("neuron", 6, 12, 32)
    (64, 158, 174)
    """
    # Elements per pair of tokens: the model view draws every head, the head view the heads of a single layer, and the
    # neuron view a single head several times.
    each = {"model": layers * heads, "head": heads, "neuron": 8}[kind]
    numbers = MOST_BYTES / BYTES_PER_NUMBER / (layers * heads)
    vectors = channels if kind == "neuron" else 0
    # A head has n² weights and 2 · n · channels numbers in its vectors: solve for the n that fills the document.
    fits = int(sqrt(vectors**2 + numbers) - vectors)
    return min(isqrt(MOST_ELEMENTS // each), fits)


def too_long(kind: str, view: View) -> LazyMessage | None:
    """Return a message if the text is too long for this view, or None if it fits."""
    views = [replace(view, words=False)] if kind == "neuron" else views_in_document(view)
    tokens = max(max(len(v.queries), len(v.keys)) for v in views)
    record = first_attending(view.trace.records(view.part))
    channels = int(record.query.shape[-1]) if isinstance(record, Record) else 64
    most = budget(kind, view.layers, view.heads, channels)
    if tokens <= most:
        return None
    return gettext_lazy(
        "{view} is slow beyond {most} tokens ({layers} layers of {heads} heads); this text has "
        "{tokens}. Shorten it, or use All heads.",
        view=TITLES[kind],
        most=most,
        layers=view.layers,
        heads=view.heads,
        tokens=tokens,
    )


def neuron_html(view: View, *, prefix: str | None = None, dark: bool = False, layer: int = 0, head: int = 0) -> str:
    """Return the neuron view as HTML, for every layer and head of the view's stack.

    ``layer`` and ``head`` (from 0) are the initial selection. Tokens are never merged into words, since a word of
    several tokens has no query vector. ``prefix`` is as in ``head_html``. Raises Unavailable if a layer has no
    attention, or if the trace contains finished maps only.
    """
    view = replace(view, words=False)
    records = _records(view)
    rows, cols = _positions(view.queries), _positions(view.keys)
    part = {
        **sides(view),
        "weights": weights(view),
        "queries": [_vectors(record.query[:, rows]) for record in records],
        "keys": [_vectors(record.key[:, cols]) for record in records],
        "scale": [record.scale for record in records],
    }
    causal = all(record.mask.causal for record in records)
    if causal:
        part["split"] = None  # BertViz hides later tokens by position, which a cut text would shift
    payload = {"layer": layer, "head": head, "causal": causal, "parts": [part]}
    hint = _("Point at a token on the left; press its + for its query and the keys.")
    scales = sorted({f"{record.scale:.4g}" for record in records})
    notes = (
        _("q · k includes the model's scale, {scales}.", scales=_(" or ").join(scales)),
        *describe_omissions(view),
        _("Queries and keys are rounded to 16 bits."),
    )
    return document(
        "neuron", view, payload, prefix=prefix, dark=dark, hint=hint, notes=translate(join_sentences(*notes))
    )


def describe_omissions(view: View) -> list[str]:
    """Return a sentence on each part of the model's attention that the neuron view leaves out.

    Because of these parts, the model's weights differ from softmax(q · k · scale).
    """
    records = _records(view)
    caps = sorted({record.softcap for record in records if record.softcap is not None})
    masks = [record.mask for record in records]
    holes = any(mask.left is not None or mask.right is not None or mask.allowed is not None for mask in masks)
    uneven = len({mask.causal for mask in masks}) > 1
    sentences = {
        _("q · k is shown without the position bias that follows."): any(record.bias is not None for record in records),
        _(
            "q · k is shown before the soft cap of ±{caps}.",
            caps=", ±".join(f"{cap:g}" for cap in caps),
        ): bool(caps),
        _("Rows sum to less than one: a sink that is not a token takes the rest."): any(
            record.sinks is not None for record in records
        ),
        _("Masked pairs show q · k; their weight is 0."): holes or uneven,
        _("Weights were scaled to sum to one over shown tokens."): view.renormalise and not view.special,
        _("Special tokens are hidden, so rows sum to less than one."): not view.renormalise and not view.special,
    }
    return [sentence for sentence, true in sentences.items() if true]


def _records(view: View) -> list[Record]:
    if (lacking := attention_everywhere(view.layers, view.attending)) is not None:
        raise Unavailable(lacking)
    for layer in range(view.layers):
        view.trace.query(layer, 0, view.part)  # raises Unavailable if a layer has maps only
    return [record for record in view.trace.records(view.part) if isinstance(record, Record)]


def _positions(cells: tuple[DisplayToken, ...]) -> list[int]:
    return [cell.pieces[0] for cell in cells]


def _vectors(values: FloatArray) -> dict[str, Any]:
    """Return a layer's vectors, shape (head, token, channel), as a packed block."""
    return pack(values, float(np.abs(values).max(initial=0)) or 1.0)
