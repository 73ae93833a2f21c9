"""The view of a picture as one HTML file that opens from a disk: the photo and as many maps as there is room for."""

from __future__ import annotations

import base64
import html
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from attention.codec import sqrt8
from attention.mask import FloatArray
from attention.trace import Trace
from i18n import _, active_language, translate
from viz.components.picture.content import (
    PictureSelection,
    grid_and_picture,
    part_of,
    payload,
    style,
    tokens_without_patch,
)
from viz.components.picture.photo import as_address, photo
from viz.components.picture.whole_maps import head_map, in_every_head, rollout_map
from viz.components.script import script
from viz.components.standalone.standalone import HERE, POLICY, UNSCRIPTED
from viz.inline import escape_json, inline

ROOM = 1_000_000  # bytes of maps as they stand in the file; the photo, script and rows take the rest of 1.5 MB
ROWS = 24  # tokens without a patch whose looks in every head go in; beside them only the chosen one's
START = """
picture({
  data: JSON.parse(document.getElementById("embedded").textContent),
  parentElement: document.getElementById("view"),
  setTriggerValue() {},
});
"""


def picture_html(
    trace: Trace, look: PictureSelection, title: str, about: Sequence[tuple[str, str]], index_base: int = 0
) -> str:
    """The file's content; title and ``about``, names and values of the caption, are text and not markup."""
    inside = _page_data(trace, look)
    data = payload(trace, look, title, about, index_base=index_base, inside=inside)
    said = "".join(f'<dt>{html.escape(name)}</dt><dd dir="auto">{html.escape(value)}</dd>' for name, value in about)
    held = _(
        "This file holds the whole maps of {maps} heads; of the others, what the tokens without a patch look at. "
        "Weights to within 0.004.",
        maps=len(inside["maps"]) - ("rollout" in inside["maps"]),
    )
    drawn, made = translate(UNSCRIPTED), _("Made with Headlight.")
    return f"""<!doctype html>
<html lang="{active_language()}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{html.escape(title)}</title>
<style>{(HERE / "standalone.css").read_text(encoding="utf-8")}{style()}</style></head>
<body><h1>{html.escape(title)}</h1>
<main id="view"><div class="still"><p>{html.escape(drawn)}</p></div></main>
<footer><dl>{said}</dl><p>{html.escape(f"{held} {made}")}</p></footer>
<script type="application/json" id="embedded">{escape_json(data)}</script>
<script type="module">
{inline(script("picture/picture") + START)}</script>
</body></html>
"""


def _page_data(trace: Trace, look: PictureSelection) -> dict[str, Any]:
    """The typedef Inside of picture_source.js: photo, maps, and what some tokens look at in every head."""
    records = trace.records(part_of(trace))
    _grid, picture = grid_and_picture(trace)
    kind = "norms" if look.by == "norms" else "head"
    asked = [("out", token) for token in dict.fromkeys([look.token, *tokens_without_patch(trace)[:ROWS]])]
    asked += [("in", look.token)] if look.facing == "in" else []
    every = {
        f"{kind}.{facing}.{token}": _pack_weights(in_every_head(records, facing, token, kind))
        for facing, token in asked
    }
    return {
        "photo": as_address(photo(picture)),
        "maps": dict(_maps(trace, look)),
        "every": every,
        "absent": _("This file has no map of that head or token; open the trace in Headlight to see it."),
    }


def _maps(trace: Trace, look: PictureSelection) -> Iterator[tuple[str, dict[str, Any]]]:
    """Whole maps, the rollout where it is shown and the chosen head first, then the nearest, while there is room."""
    records, room = trace.records(part_of(trace)), ROOM
    if look.by == "rollout":
        packed = _pack_weights(rollout_map(records))
        room -= len(packed["data"])
        yield "rollout", packed
    every = [(layer, head) for layer, record in enumerate(records) for head in range(record.heads)]
    chosen, kind = (look.layer, look.head), "norms" if look.by == "norms" else "head"
    for layer, head in sorted(every, key=lambda place: (place != chosen, abs(place[0] - look.layer))):
        packed = _pack_weights(head_map(records, layer, head, kind))
        room -= len(packed["data"])
        if room < 0:
            return
        yield f"{kind}.{layer}.{head}", packed


def _pack_weights(weights: FloatArray) -> dict[str, Any]:
    """Square-root bytes, deflated, as text."""
    data = zlib.compress(sqrt8(weights).tobytes(), 6)
    return {"shape": list(weights.shape), "data": base64.b64encode(data).decode()}
