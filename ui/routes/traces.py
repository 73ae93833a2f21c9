"""What the components fetch: maps, rows and tiles of a trace as binary frames, by the trace's id.

An address names a value that never changes, so browsers may keep it. It carries the trace's seal, which only the page
that shows the trace was given. An id that this server no longer knows, or another seal, answers 410, and the page then
makes the trace again.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from attention.codec import frame
from attention.record import Unavailable
from attention.storage import dump
from attention.trace import Trace
from attention.view import BLOCK, View
from inference import Refusal
from ui.routes.limit import Limit
from ui.routes.reader import to_reader
from ui.run.habits import habits_shown
from ui.run.shelf import Look, seal, shelf
from viz.components.base_path import BASE
from viz.components.explore import explore
from wording import _, languages, said_by, sentence, told

PREFIX = f"{BASE}/headlight/trace"
FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}
LARGEST_TILE = 1024  # cells on a side


# Each file may take much memory. A class may press the button together; who comes after that is told to try again.
FILES = Limit(2, 30, sentence("Too many files are being made just now. Try again in a few seconds."))


class BadRequest(ValueError):
    """An address that names nothing."""


def grid(trace: Trace, look: Look, _request: Request) -> bytes:
    """All heads small, and what the words of the text give each key together."""
    found = shelf().survey(trace, look)
    crowd = found.crowd
    arrays = {
        "grid": (found.thumbnails, "sqrt8"),
        "means": (crowd.means(), "float16"),
        "counts": (crowd.counts.astype(np.float32), "float16"),
    }
    part = look.part or None
    header = {
        "sampled": found.sampled,
        "rows": crowd.rows.tolist() if found.sampled else None,
        "habits": explore.places(habits_shown(trace, part), shelf().view(trace, look)),
    }
    return frame(header, arrays)


def rows(trace: Trace, look: Look, request: Request) -> bytes:
    """Where one token looks in every head."""
    view = shelf().view(trace, look)
    query = number(request, "query", len(view.queries))
    return frame({"query": query}, {"rows": (view.rows(query), "float16")})


def columns(trace: Trace, look: Look, request: Request) -> bytes:
    """Who looks at one token in every head."""
    view = shelf().view(trace, look)
    key = number(request, "key", len(view.keys))
    return frame({"key": key}, {"columns": (view.columns(key), "float16")})


def tile(trace: Trace, look: Look, request: Request) -> bytes:
    """A part of one head's map at the resolution asked for."""
    view = shelf().view(trace, look)
    layer, head = head_of(request, view)
    (q0, q1), (k0, k1) = _span(request, "q", len(view.queries)), _span(request, "k", len(view.keys))
    asked = number(request, "size", 10**6)
    # A cell never covers more weights than are computed at once.
    size = min(max(1, asked, -(-(q1 - q0) * (k1 - k0) // BLOCK)), LARGEST_TILE)
    weights = view.tile(layer, head, q0, q1, k0, k1, size)
    header = {"layer": layer, "head": head, "q0": q0, "q1": q1, "k0": k0, "k1": k1}
    exact = weights.shape == (q1 - q0, k1 - k0)
    return frame({**header, "exact": exact}, {"tile": (weights, "float16")})


FRAMES: dict[str, Callable[[Trace, Look, Request], bytes]] = {
    "grid": grid,
    "rows": rows,
    "columns": columns,
    "tile": tile,
}


def served(request: Request, make: Callable[[Trace, Look], Response]) -> Response:
    """What ``make`` gives for the trace in the address; 410 when it is gone or the seal is not its own.

    400, in a sentence, when something else in the address is wrong.
    """
    query = request.query_params
    look = Look.read(*(query.get(name, "") for name in ("part", "words", "special", "renormalise")))
    with to_reader(request):
        try:
            asked = request.path_params["trace"]
            known = hmac.compare_digest(query.get("seal", "").encode(), seal(asked).encode())
            trace = shelf().find(asked) if known else None
            if trace is None:
                return PlainTextResponse(_("This text is no longer in memory; it has to be read again."), 410)
            return make(trace, look)
        except (BadRequest, Refusal, Unavailable) as error:
            return PlainTextResponse(told(said_by(error)), 400)


def _binary(content: bytes) -> Response:
    # Streamlit would gzip it: 34 ms of processor time to save a fifth of a tile of 512 x 512 halves.
    headers = {**FOREVER, "Content-Encoding": "identity"}
    return Response(content, media_type="application/octet-stream", headers=headers)


def number(request: Request, name: str, end: int) -> int:
    """A whole number from 0 to end - 1 in the address. Raises BadRequest for anything else."""
    raw = request.query_params.get(name, "")
    if not (raw.isascii() and raw.isdigit() and len(raw) < 10 and int(raw) < end):
        raise BadRequest(
            sentence(
                "“{name}” is {raw!r}; it should be a whole number from 0 to {last}.",
                name=name,
                raw=raw[:20],
                last=end - 1,
            )
        )
    return int(raw)


def _span(request: Request, name: str, length: int) -> tuple[int, int]:
    start, stop = number(request, f"{name}0", length), number(request, f"{name}1", length + 1)
    if start >= stop:
        raise BadRequest(
            sentence(
                "“{name}0” is {start} and “{name}1” is {stop}; the first should be less.",
                name=name,
                start=start,
                stop=stop,
            )
        )
    return start, stop


def head_of(request: Request, view: View) -> tuple[int, int]:
    """The layer and head in the address."""
    return number(request, "layer", view.layers), number(request, "head", view.heads)


def whole(request: Request) -> Response:
    """The trace as a file, its tokens as they were read."""

    def file(trace: Trace, _look: Look) -> Response:
        return attachment("trace.safetensors", "application/octet-stream", dump, shelf().plain(trace))

    return served(request, file)


def attachment(name: str, media_type: str, make: Callable[..., bytes], *arguments: Any) -> Response:
    """A file to be saved, for endpoints behind FILES."""
    content = make(*arguments)
    disposition = f'attachment; filename="headlight-{name}"'
    return Response(content, media_type=media_type, headers={**FOREVER, "Content-Disposition": disposition})


def routes() -> list[Route]:
    """The routes, for the app. Endpoints are plain functions, so the server runs them in threads of their own."""
    frames = [Route(f"{PREFIX}/{{trace}}/{what}", _endpoint(make)) for what, make in FRAMES.items()]
    return [
        Route(explore.ADDRESS, _script),
        *frames,
        Route(f"{PREFIX}/{{trace}}/trace.safetensors", FILES.endpoint(whole)),
    ]


def _script(request: Request) -> Response:
    """The component's script in a language, whose address holds its hash."""
    code = request.path_params["code"]
    if code not in languages():
        return PlainTextResponse(_("There is no such script."), 404)
    return Response(explore.spoken(code), media_type="text/javascript", headers=FOREVER)


def _endpoint(make: Callable[[Trace, Look, Request], bytes]) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        return served(request, lambda trace, look: _binary(make(trace, look, request)))

    return endpoint
