"""The view of a picture without Streamlit: payload, photo, maps, and a page of its own."""

from __future__ import annotations

import base64
import html
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from attention.agreement import rollout, shares, with_residual
from attention.codec import frame, sqrt8
from attention.mask import FloatArray, Index
from attention.pictures import Grid, Picture
from attention.record import EVERYTHING, AnyRecord, Record
from attention.trace import Trace
from i18n import _, active_language, translate
from viz.components.script import script, stylesheet, words_field
from viz.components.standalone.standalone import HERE, POLICY, UNSCRIPTED
from viz.inline import escape_json, inline

LONGEST = 896  # pixels of its longer side
DIMMEST = 212 / 255  # of a patch's light that is taken where it has no weight; picture_drawing.js
LOSSLESS = 128  # pixels of the longer side up to which nothing may be lost


def photo(picture: Picture) -> bytes:
    """A JPEG; of a small picture a PNG, pixel for pixel."""
    from PIL import Image

    made, file = Image.fromarray(picture.pixels), io.BytesIO()
    if max(made.size) <= LOSSLESS:
        made.save(file, "PNG")
        return file.getvalue()
    made.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
    made.save(file, "JPEG", quality=84)
    return file.getvalue()


def kind_of_photo(file: bytes) -> str:
    """What kind of file it is.

    >>> kind_of_photo(b"\\x89PNG"), kind_of_photo(b"\\xff\\xd8")
    ('image/png', 'image/jpeg')
    """
    return "image/png" if file.startswith(b"\x89PNG") else "image/jpeg"


def as_address(file: bytes) -> str:
    """The same as an address that holds it.

    >>> as_address(b"\\xff\\xd8")
    'data:image/jpeg;base64,/9g='
    """
    return f"data:{kind_of_photo(file)};base64,{base64.b64encode(file).decode()}"


def dim_patches(picture: Picture, grid: Grid, weights: FloatArray) -> bytes:
    """The picture with its patches as bright as the root of their weight beside the largest; a PNG.

    ``weights`` is (token,); what the model was not given is as dim as a patch without weight. As drawDimmed of
    picture_drawing.js.
    """
    from PIL import Image

    made, file = Image.fromarray(picture.pixels), io.BytesIO()
    scale = min(1.0, LONGEST / max(made.size))
    made = made.resize((max(1, round(scale * made.width)), max(1, round(scale * made.height))))
    patches = np.clip(weights[grid.start : grid.start + len(grid)], 0, None).reshape(grid.rows, grid.columns)
    light = np.sqrt(patches / (float(patches.max()) or 1.0))
    left, top, right, bottom = (round(scale * edge) for edge in grid.box)
    shown = np.full((made.height, made.width), 1 - DIMMEST)
    rows = np.minimum(np.arange(bottom - top) * grid.rows // max(1, bottom - top), grid.rows - 1)
    columns = np.minimum(np.arange(right - left) * grid.columns // max(1, right - left), grid.columns - 1)
    shown[top:bottom, left:right] = 1 - DIMMEST * (1 - light[np.ix_(rows, columns)])
    Image.fromarray((np.asarray(made) * shown[..., None]).round().astype(np.uint8)).save(file, "PNG")
    return file.getvalue()


def head_map(records: Sequence[AnyRecord], layer: int, head: int, by: str = "head") -> FloatArray:
    """One head's map, (query, key) float32; ``by`` "norms" weighs it by values."""
    return every_row(records[layer].quick(), head, by)


def every_row(record: AnyRecord, head: int, by: str, rows: Index = EVERYTHING) -> FloatArray:
    """Where some tokens look in a head, (row, key) float32.

    ``by`` "norms": each weight times the length of the value that it weighs, as shares of the row: how much of what the
    head takes in comes from where (after arXiv:2004.10102, which takes the output's matrix in too).
    """
    weights = record.weights(head, rows)
    if by != "norms" or not isinstance(record, Record):
        return weights
    return shares(weights * np.linalg.norm(record.value[record.kv_head(head)], axis=1))


def in_every_head(records: Sequence[AnyRecord], facing: str, token: int, by: str) -> FloatArray:
    """Where a token looks in every head, (layer, head, key) float32; facing "in", who looks at it."""
    found = []
    for record in (one.quick() for one in records):
        if facing == "out":
            found.append([every_row(record, head, by, np.array([token]))[0] for head in range(record.heads)])
        elif by == "norms":
            found.append([every_row(record, head, by)[:, token] for head in range(record.heads)])
        else:
            column = np.array([token])
            found.append([record.weights(head, EVERYTHING, column)[:, 0] for head in range(record.heads)])
    return np.array(found, np.float32)


def rollout_map(records: Sequence[AnyRecord]) -> FloatArray:
    """What reaches each token of the last layer from each patch and token of the first, (query, key) float32.

    The mean over each layer's heads, half of it what a token hands on to itself (arXiv:2005.00928).
    """
    means = [sum(quick.weights(head) for head in range(quick.heads)) for quick in (one.quick() for one in records)]
    return rollout(with_residual(shares(np.stack(means).astype(np.float32))))


def encode_map(weights: FloatArray) -> bytes:
    """A map as a frame that picture_source.js reads."""
    return frame({}, {"map": (weights, "sqrt8")})


FACINGS = ("out", "in")
KINDS = ("head", "norms", "rollout")


@dataclass(frozen=True)
class PictureSelection:
    """What is chosen: a head, a token, whether it looks or is looked at, and what shows: the head's weights, these
    times the length of each value, or the rollout of all layers."""

    layer: int
    head: int
    token: int
    facing: str = "out"
    by: str = "head"


def part_of(trace: Trace) -> str:
    """The part whose tokens have the picture's patches among them."""
    return "encoder" if "encoder" in trace.parts else trace.part


def grid_and_picture(trace: Trace) -> tuple[Grid, Picture]:
    """A trace's grid and picture; raises ValueError where it is of a text alone."""
    if trace.source.grid is None or trace.picture is None:
        raise ValueError("This trace is of a text, and has no picture.")
    return trace.source.grid, trace.picture


def tokens_without_patch(trace: Trace) -> list[int]:
    """Tokens that have no patch, such as CLS and registers, in their order."""
    grid, _ = grid_and_picture(trace)
    return [at for at in range(len(trace.source)) if grid.place(at) is None]


def payload(  # noqa: PLR0913  (the fields of what is drawn)
    trace: Trace, look: PictureSelection, title: str, about: Sequence[tuple[str, str]], base: str = "", query: str = "",
    inside: Mapping[str, Any] | None = None) -> dict[str, Any]:  # fmt: skip
    """What picture.js draws; its typedef PictureData has the same fields.

    ``base`` and ``query`` make up every address that is fetched; ``inside`` has the numbers where there is no server.
    """
    grid, picture = grid_and_picture(trace)
    left, top, right, bottom = grid.box
    records = trace.records(part_of(trace))
    return {
        "base": base,
        "view": query,
        "title": title,
        "about": [list(pair) for pair in about],
        "picture": {"width": picture.width, "height": picture.height},
        "grid": {
            "rows": grid.rows,
            "columns": grid.columns,
            "start": grid.start,
            "box": [left / picture.width, top / picture.height, right / picture.width, bottom / picture.height],
        },
        "others": [{"at": at, "name": trace.tokens[at]} for at in tokens_without_patch(trace)],
        "tokens": list(trace.tokens),
        "layers": len(records),
        "heads": records[0].heads,
        "values": trace.has_qkv(part_of(trace)),
        "selection": asdict(look),
        "inside": inside,
        **words_field("picture/picture"),
    }


def style() -> str:
    """The view's style sheet."""
    return stylesheet("shared/look", "picture/picture")


ROOM = 1_000_000  # bytes of maps as they stand in the file; the photo, script and rows take the rest of 1.5 MB
ROWS = 24  # tokens without a patch whose looks in every head go in; beside them only the chosen one's
START = """
picture({
  data: JSON.parse(document.getElementById("embedded").textContent),
  parentElement: document.getElementById("view"),
  setTriggerValue() {},
});
"""


def picture_html(trace: Trace, look: PictureSelection, title: str, about: Sequence[tuple[str, str]]) -> str:
    """The file's content; title and ``about``, names and values of the caption, are text and not markup."""
    inside = _page_data(trace, look)
    data = payload(trace, look, title, about, inside=inside)
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
