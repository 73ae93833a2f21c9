"""Matrices as a standalone HTML file: sentences, the matrices with all their numbers, and a caption."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence

from i18n import _, active_language, translate
from viz.components.matrices.matrices import MatrixSpec, payload
from viz.components.script import script, stylesheet
from viz.components.standalone.standalone import HERE, POLICY, UNSCRIPTED
from viz.inline import inline

START = """
const letters = atob(document.getElementById("embedded").textContent);
matrices({
  data: Uint8Array.from(letters, (letter) => letter.charCodeAt(0)),
  parentElement: document.getElementById("matrices"),
  setTriggerValue() {},
});
"""


def matrices_html(
    title: str, sentences: Sequence[str], sheets: Sequence[MatrixSpec], about: Sequence[tuple[str, str]]
) -> str:
    """Return the HTML file; ``about`` are names and values of the caption. All texts are escaped.

    >>> "&lt;b&gt;" in matrices_html("Maps", ["it gives <b> 0.68"], [], [("text", "a")])
    True
    """
    data = base64.b64encode(payload(sheets, False, None, about)).decode()
    read = "".join(f'<p dir="auto">{html.escape(sentence)}</p>' for sentence in sentences)
    said = "".join(f'<dt>{html.escape(name)}</dt><dd dir="auto">{html.escape(value)}</dd>' for name, value in about)
    drawn, made = translate(UNSCRIPTED), _("Made with Headlight.")
    style = (HERE / "standalone.css").read_text(encoding="utf-8") + stylesheet("shared/look", "matrices/matrices")
    return f"""<!doctype html>
<html lang="{active_language()}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{html.escape(title)}</title>
<style>{style}</style></head>
<body><h1>{html.escape(title)}</h1>{read}
<main id="matrices"><div class="still"><p>{html.escape(drawn)}</p></div></main>
<footer><dl>{said}</dl><p>{html.escape(made)}</p></footer>
<script type="application/octet-stream" id="embedded">{data}</script>
<script type="module">
{inline(script("matrices/matrices") + START)}</script>
</body></html>
"""
