"""BertViz's head, model and neuron views of a trace, as complete HTML documents.

The pictures are BertViz's own (its installed scripts, see bertviz_vendor); the numbers are the trace's, so every model
the trace can hold has them, the neuron view included. Tokens travel as JSON in which "<", ">" and "&" are escaped,
and are drawn as text nodes: no token can end a script or begin a tag.

Numbers travel as 16-bit integers: weights to four decimals, queries and keys to 1/65534 of a layer's range. An array
is in the document once; BertViz writes it twice, each number with up to 20 digits.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attention.display_tokens import DisplayToken
from attention.mask import FloatArray
from attention.trace import PARTS
from attention.view import View
from i18n import _, active_language, gettext_lazy, translate
from viz.bertviz.vendor import BRIDGE, LIBRARIES, vendor, version
from viz.figures.labels import truncate
from viz.inline import escape_json, inline

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
# What BertViz's own scripts write.
SAID = (
    gettext_lazy("Heads"),
    gettext_lazy("Layers"),
    gettext_lazy("Layer {layer}, Head {head}"),
    gettext_lazy("Query "),
    gettext_lazy("Key "),
    gettext_lazy("q × k (elementwise)"),
    gettext_lazy("No token selected"),
)
TITLES = {
    "head": gettext_lazy("BertViz head view · {model}"),
    "model": gettext_lazy("BertViz model view · {model}"),
    "neuron": gettext_lazy("BertViz neuron view · {model}"),
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
.dark .head text, .dark .model svg > text { fill: #e9e9e6 }
.dark .head .background { fill: #444 }
.dark .neuron, .dark .model svg { background-color: #121417 !important }
.dark .model .attn_background { fill: #121417 }
#bertviz { padding-left: 30px !important }
"""


def head_html(  # noqa: PLR0913  (what a document may be told, by name)
    view: View,
    *,
    prefix: str | None = None,
    dark: bool = False,
    layer: int = 0,
    heads: Sequence[int] | None = None,
    base: int = 0,
) -> str:
    """The head view: two columns of tokens and a line per weight, of one layer and any of its heads.

    ``prefix`` is the path under which the page serves ``vendor``; without it the scripts are written into the document,
    which then opens from a file. ``layer`` and ``heads`` (all by default) are selected at first; both count from 0,
    what is written on the page from ``base``.
    """
    views = views_in_document(view)
    payload = {
        "layer": layer + base,
        "heads": None if heads is None else list(heads),
        "parts": [_part(v) for v in views],
    }
    hint = _(
        "Rest on a token to see only its lines. Click a coloured square to switch a head off or on; double-click it to "
        "keep only that head."
    )
    return document("head", view, payload, prefix=prefix, dark=dark, hint=hint, base=base)


def model_html(view: View, *, prefix: str | None = None, dark: bool = False, base: int = 0) -> str:
    """The model view: the lines of every head, layers down, heads across; a click enlarges one. See ``head_html``."""
    payload = {"parts": [_part(v) for v in views_in_document(view)]}
    hint = _("Click a map to enlarge it, click it again to close it. In the enlarged map, rest on a token on the left.")
    return document("model", view, payload, prefix=prefix, dark=dark, hint=hint, base=base)


def views_in_document(view: View) -> list[View]:
    """The views one document offers: the part that is looked at first, then the model's other parts.

    BertViz needs the same layers and heads in all of them; a part with other numbers is left out.
    """
    first = view.part or view.trace.part
    others = [replace(view, part=name) for name in PARTS if name in view.trace.parts and name != first]
    same = [other for other in others if (other.layers, other.heads) == (view.layers, view.heads)]
    return [replace(view, part=first), *same]


def document(  # noqa: PLR0913  (what a document may be told, by name)
    kind: str,
    view: View,
    payload: dict[str, Any],
    *,
    prefix: str | None,
    dark: bool,
    hint: str,
    notes: str = "",
    base: int = 0,
) -> str:
    """The HTML document of one view ("head", "model", "neuron") with its controls, its data and what it shows."""
    defaults = {"layer": None, "heads": None, "head": None, "causal": False}
    shared = {
        "mode": "dark" if dark else "light",
        "layers": [layer + base for layer in range(view.layers)],
        "base": base,
        "said": {str(one): translate(one) for one in SAID},
    }
    data = escape_json({**defaults, **shared, **payload})
    title = translate(TITLES[kind]).format(model=view.trace.model.name)
    style = STYLE % {"width": WIDTHS[kind], "height": height(kind, view) - MARGINS}
    without = [str(layer + base) for layer in range(view.layers) if layer not in view.attending]
    missing = _("Layers without attention have no lines: {layers}.", layers=", ".join(without)) if without else ""
    drawn = _(
        "Layers and heads count from {base}. Weights are exact to four decimals. "
        "Drawn by BertViz {version} (Jesse Vig, Apache-2.0).",
        base=base,
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

# BertViz's own measures in pixels, from its three scripts: what the drawing needs in each direction.
WIDTHS = {"head": 360, "model": 970, "neuron": 1020}
MARGINS = 150  # the hint, the controls and the note


def height(kind: str, view: View) -> int:
    """Pixels that a document of this kind needs to be seen without scrolling; give its frame at most your screen's."""
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
    """An array within ±top as 16-bit integers in base64: the Block of bertviz_bridge.js.

    >>> pack(np.array([0.0, 1.0], np.float32), 1.0)["data"]
    'AAD/fw=='
    """
    steps = np.rint(np.clip(values * (STEPS / top), -STEPS, STEPS)).astype("<i2")
    return {"shape": list(values.shape), "unit": top / STEPS, "data": base64.b64encode(steps.tobytes()).decode()}


def split(cells: Sequence[DisplayToken]) -> int | None:
    """Where the second text of a pair begins; None when there is one text only."""
    start = next((i for i, cell in enumerate(cells) if cell.segment == 1), None)
    return start or None


def sides(view: View) -> dict[str, Any]:
    """The tokens of both sides and where each splits into the texts of a pair."""
    rows, cols = split(view.queries), split(view.keys)
    return {
        "name": translate(NAMES[view.part or view.trace.part]),
        "left": [truncate(cell.label) for cell in view.queries],
        "right": [truncate(cell.label) for cell in view.keys],
        "split": [rows, cols] if rows and cols else None,
    }


def weights(view: View) -> list[dict[str, Any]]:
    """One packed block a layer, (head, query, key)."""
    layers = range(view.layers)
    return [pack(np.stack([view.weights(layer, head) for head in range(view.heads)]), 1.0) for layer in layers]


def _part(view: View) -> dict[str, Any]:
    return {**sides(view), "weights": weights(view)}


def _controls(kind: str, parts: Sequence[dict[str, Any]]) -> str:
    """The selection boxes that BertViz's scripts fill and listen to."""
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
