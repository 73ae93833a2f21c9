"""The view of a picture without Streamlit: its data, photo, maps, and standalone page."""

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
from attention.patch_roles import edge_score
from attention.pictures import Grid, Picture
from attention.record import EVERYTHING, AnyRecord, Record
from attention.trace import Trace
from i18n import _, active_language, translate
from viz.components.script import escape_json, inline, script, stylesheet, words_field
from viz.components.standalone.standalone import HERE, POLICY, UNSCRIPTED

LONGEST = 896  # pixels of the photo's longer side
DIMMEST = 212 / 255  # the share of brightness that a patch without weight loses, as in picture_drawing.js
HATCH = 16  # pixels between the lines over the part that the model does not receive, as in picture_drawing.js
LOSSLESS = 128  # pixels of the longer side up to which the compression is lossless


def photo(picture: Picture) -> bytes:
    """Return a picture as a JPEG file of at most LONGEST pixels, or as a PNG file if it is small."""
    from PIL import Image

    made, file = Image.fromarray(picture.pixels), io.BytesIO()
    if max(made.size) <= LOSSLESS:
        made.save(file, "PNG")
        return file.getvalue()
    made.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
    made.save(file, "JPEG", quality=84)
    return file.getvalue()


def kind_of_photo(file: bytes) -> str:
    """Return the MIME type of an image file.

    >>> kind_of_photo(b"\\x89PNG"), kind_of_photo(b"\\xff\\xd8")
    ('image/png', 'image/jpeg')
    """
    return "image/png" if file.startswith(b"\x89PNG") else "image/jpeg"


def as_address(file: bytes) -> str:
    """Return an image file as a data URL.

    >>> as_address(b"\\xff\\xd8")
    'data:image/jpeg;base64,/9g='
    """
    return f"data:{kind_of_photo(file)};base64,{base64.b64encode(file).decode()}"


def dim_patches(picture: Picture, grid: Grid, weights: FloatArray) -> bytes:
    """Return a PNG of the picture in which patches with little weight are dark.

    ``weights`` is (token,). The brightness of a patch is the square root of its weight over the largest weight, as in
    drawDimmed in picture_drawing.js. Pixels outside the model's input are dark and hatched.
    """
    from PIL import Image

    made, file = Image.fromarray(picture.pixels), io.BytesIO()
    scale = min(1.0, LONGEST / max(made.size))
    made = made.resize((max(1, round(scale * made.width)), max(1, round(scale * made.height))))
    patches = np.clip(weights[grid.start : grid.start + len(grid)], 0, None).reshape(grid.rows, grid.columns)
    light = np.sqrt(patches / (float(patches.max()) or 1.0))
    left, top, right, bottom = (round(scale * edge) for edge in grid.box)
    y, x = np.arange(made.height), np.arange(made.width)
    rows = (y - top) * grid.rows // max(1, bottom - top)
    columns = (x - left) * grid.columns // max(1, right - left)
    inside = np.outer((rows >= 0) & (rows < grid.rows), (columns >= 0) & (columns < grid.columns))
    weight = light[np.ix_(rows.clip(0, grid.rows - 1), columns.clip(0, grid.columns - 1))]
    pixels = np.asarray(made) * (1 - DIMMEST * (1 - np.where(inside, weight, 0)))[..., None]
    hatched = ~inside & (np.add.outer(y, x) % HATCH < HATCH / 8)
    pixels[hatched] += 0.25 * (255 - pixels[hatched])
    Image.fromarray(pixels.round().astype(np.uint8)).save(file, "PNG")
    return file.getvalue()


def head_map(records: Sequence[AnyRecord], layer: int, head: int, by: str = "head") -> FloatArray:
    """Return a head's map, shape (query, key) float32.

    With ``by="norms"``, the weights are multiplied by the norms of the value vectors, as in ``every_row``.
    """
    return every_row(records[layer].quick(), head, by)


def every_row(record: AnyRecord, head: int, by: str, rows: Index = EVERYTHING) -> FloatArray:
    """Return the given rows of a head's map, shape (row, key) float32.

    With ``by="norms"``, each weight is multiplied by the norm of its value vector, and each row is scaled to sum to
    one. Each entry is then the part of the head's output that comes from a key (after arXiv:2004.10102, which also
    includes the output matrix). Records without values return their weights.
    """
    weights = record.weights(head, rows)
    if by != "norms" or not isinstance(record, Record):
        return weights
    return shares(weights * np.linalg.norm(record.value[record.kv_head(head)], axis=1))


def in_every_head(records: Sequence[AnyRecord], facing: str, token: int, by: str) -> FloatArray:
    """Return the attention from a token to all tokens in every head, shape (layer, head, token) float32.

    If ``facing`` is "in", return the attention from all tokens to this token instead. ``by`` is as in ``head_map``.
    """
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
    """Return the attention rollout over all layers, shape (query, key) float32.

    A layer's matrix is the mean of its heads' maps, averaged with the identity for the residual stream. The rollout is
    the product of these matrices (arXiv:2005.00928).
    """
    means = [sum(quick.weights(head) for head in range(quick.heads)) for quick in (one.quick() for one in records)]
    return rollout(with_residual(shares(np.stack(means).astype(np.float32))))


def selected_weights(trace: Trace, look: PictureSelection) -> FloatArray:
    """Return the attention of the selected token to all tokens, or from all tokens to it (``look.facing``)."""
    records = trace.records(part_of(trace))
    every = rollout_map(records) if look.by == "rollout" else head_map(records, look.layer, look.head, look.by)
    return every[look.token] if look.facing == "out" else every[:, look.token]


def encode_map(weights: FloatArray) -> bytes:
    """Encode a map as a binary message, which picture_source.js decodes."""
    return frame({}, {"map": (weights, "sqrt8")})


FACINGS = ("out", "in")
KINDS = ("head", "norms", "rollout")


@dataclass(frozen=True)
class PictureSelection:
    """The selection in the view of a picture: head, token, direction, and the kind of map.

    ``facing`` is "out" if the token is the query, "in" if it is the key; ``by`` is a kind of KINDS: head weights,
    norms or rollout.
    """

    layer: int
    head: int
    token: int
    facing: str = "out"
    by: str = "head"


def part_of(trace: Trace) -> str:
    """Return the stack (encoder or decoder) that reads the picture's patches."""
    return "encoder" if "encoder" in trace.parts else trace.part


def grid_and_picture(trace: Trace) -> tuple[Grid, Picture]:
    """Return the patch grid and the picture of a trace; raise ValueError if it has none."""
    if trace.source.grid is None or trace.picture is None:
        raise ValueError("This trace is of a text, and has no picture.")
    return trace.source.grid, trace.picture


def tokens_without_patch(trace: Trace) -> list[int]:
    """Return the indices of tokens without a patch, such as CLS and registers, in order."""
    grid, _ = grid_and_picture(trace)
    return [at for at in range(len(trace.source)) if grid.place(at) is None]


def edge_head(trace: Trace, token: int) -> tuple[int, int]:
    """Return the (layer, head) in which the attention from ``token`` forms the clearest shape in the picture.

    It is the head with the largest ``attention.patch_roles.edge_score``.
    """
    index = np.array([token])
    records = [record.quick() for record in trace.records(part_of(trace))]
    rows = [[record.weights(head, index)[0] for head in range(record.heads)] for record in records]
    found = edge_score(np.array(rows, np.float32), grid_and_picture(trace)[0])
    layer, head = divmod(int(found.argmax()), found.shape[1])
    return layer, head


def payload(  # noqa: PLR0913  (the fields of the payload)
    trace: Trace, look: PictureSelection, title: str, about: Sequence[tuple[str, str]], base: str = "", query: str = "",
    inside: Mapping[str, Any] | None = None) -> dict[str, Any]:  # fmt: skip
    """Return the data for picture.js, with the fields of its typedef PictureData.

    The script fetches maps from addresses that begin with ``base`` and end with ``query``. A page without a server gets
    the maps in ``inside``.
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
    """Return the style sheet of the view of a picture."""
    return stylesheet("shared/look", "picture/picture")


ROOM = 1_000_000  # encoded bytes of maps; the photo, script and rows take the rest of 1.5 MB
ROWS = 24  # tokens without a patch whose rows in every head are included, in addition to the selected token's
START = """
picture({
  data: JSON.parse(document.getElementById("embedded").textContent),
  parentElement: document.getElementById("view"),
  setTriggerValue() {},
});
"""


def picture_html(trace: Trace, look: PictureSelection, title: str, about: Sequence[tuple[str, str]]) -> str:
    """Return the view of a picture as an HTML file that needs no server.

    ``title`` and ``about``, the names and values of the caption, are text, not markup.
    """
    inside = _page_data(trace, look)
    data = payload(trace, look, title, about, inside=inside)
    said = "".join(f'<dt>{html.escape(name)}</dt><dd dir="auto">{html.escape(value)}</dd>' for name, value in about)
    held = _(
        "Full maps of {maps} heads; the others have only rows of special tokens. Weights are exact to within 0.004.",
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
    """Return the typedef Inside of picture_source.js: photo, maps, and rows of some tokens in every head."""
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
        "absent": _("This file lacks that map. Open the trace in Headlight."),
    }


def _maps(trace: Trace, look: PictureSelection) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield whole maps while ROOM bytes last: the rollout if it is selected, then heads by distance.

    The selected head is the first, followed by heads of the nearest layers.
    """
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
    """Return weights as square-root bytes, compressed with zlib, in base64."""
    data = zlib.compress(sqrt8(weights).tobytes(), 6)
    return {"shape": list(weights.shape), "data": base64.b64encode(data).decode()}
