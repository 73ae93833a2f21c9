"""An HTML page of all examples in light and dark colours, with changed examples first."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence

from plotly.offline import get_plotlyjs

from tests.support.gallery import FIGURES, SHEETS
from viz.components.matrices.matrices import payload
from viz.components.script import escape_json, inline, script, stylesheet
from viz.figures.theme import DARK, LIGHT

STYLE = """
body { font: 14px system-ui, sans-serif; margin: 16px; background: #888; }
.row { display: flex; flex-wrap: wrap; gap: 8px; } .page { flex: 1 1 420px; min-width: 0; padding: 8px; }
.page { background: var(--st-background-color); color: var(--st-text-color); }
.page.light { color-scheme: light; --st-background-color: #fff; --st-text-color: #31333f; }
.page.dark { color-scheme: dark; --st-background-color: #0e1117; --st-text-color: #e8e8ec; }
"""
START = """
for (const { id, figure } of drawn) Plotly.newPlot(id, figure.data, figure.layout, { displaylogo: false });
"""
SHEETS_START = """
const { places } = JSON.parse(document.getElementById("sheets").textContent);
for (const { id, data } of places) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  matrices({ data: bytes, parentElement: document.getElementById(id), setTriggerValue() {} });
}
"""


def page(told: Sequence[tuple[str, str]]) -> str:
    """Return the page as HTML.

    ``told`` contains the names of examples that differ from their goldens, each with its differences; they come
    first.
    """
    first = dict(told)
    names = sorted([*(f"figures-{name}" for name in FIGURES), *(f"sheets-{name}" for name in SHEETS)])
    order = sorted(names, key=lambda name: name not in first)
    figures = [
        {"id": f"{name}-{kind}", "figure": json.loads(FIGURES[name.removeprefix("figures-")](theme).to_json())}
        for name in order
        if name.startswith("figures-")
        for kind, theme in (("light", LIGHT), ("dark", DARK))
    ]
    sheets = [
        {
            "id": f"{name}-{kind}",
            "data": base64.b64encode(payload(SHEETS[name.removeprefix("sheets-")](), False, None)).decode(),
        }
        for name in order
        if name.startswith("sheets-")
        for kind in ("light", "dark")
    ]
    sections = "".join(_section(name, first.get(name, "")) for name in order)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Headlight · gallery</title>
<style>{STYLE}{stylesheet("shared/look", "matrices/matrices")}</style>
<script>{inline(get_plotlyjs())}</script></head>
<body><h1>Every figure</h1>{sections}
<script type="application/json" id="sheets">{escape_json({"places": sheets})}</script>
<script>const drawn = {escape_json(figures)};{START}</script>
<script type="module">{inline(script("matrices/matrices"))}{SHEETS_START}</script>
</body></html>
"""


def _section(name: str, told: str) -> str:
    mark = f"<pre>{html.escape(told)}</pre>" if told else ""
    pages = "".join(f'<div class="page {kind}"><div id="{name}-{kind}"></div></div>' for kind in ("light", "dark"))
    return f"<h2>{name.replace('-', '/')}{' *' if told else ''}</h2>{mark}<div class=row>{pages}</div>\n"
