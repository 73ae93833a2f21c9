"""What the components fetch: maps, rows and tiles of a trace as binary frames, by the trace's id.

An address names a value that never changes, so browsers may keep it. It carries the trace's seal, which only the page
that shows the trace was given. An id that this server no longer knows, or another seal, answers 410, and the page then
makes the trace again.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from attention.record import Unavailable
from attention.storage import dump
from attention.trace import Trace
from attention.view import View
from i18n import _, available_languages, error_message, gettext_lazy, translate
from inference import UserError
from ui.routes.limits import ConcurrencyLimit, reader_endpoint, use_request_language
from ui.run.positional_prior import prior_map
from ui.run.services import ViewOptions, get_trace_store, trace_seal
from viz.components.base_path import BASE
from viz.components.explore import content, explore
from viz.components.explore.content import BadRequest, QueryFields

PREFIX = f"{BASE}/headlight/trace"
FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}


# Each file may take much memory. A class may press the button together; who comes after that is told to try again.
FILES = ConcurrencyLimit(
    2, 30, gettext_lazy("Too many files are being made just now. Try again in a few seconds."), each=8
)


def grid(trace: Trace, look: ViewOptions, _asked: QueryFields) -> bytes:
    """All heads small, and what they do in other texts where that is known."""
    habits = prior_map(trace, look.part or None)
    return content.grid(
        get_trace_store().survey(trace, look), explore.places(habits, get_trace_store().view(trace, look))
    )


def _of_a_view(make: Callable[[View, QueryFields], bytes]) -> Callable[[Trace, ViewOptions, QueryFields], bytes]:
    return lambda trace, look, asked: make(get_trace_store().view(trace, look), asked)


FRAMES: dict[str, Callable[[Trace, ViewOptions, QueryFields], bytes]] = {
    "grid": grid,
    **{what: _of_a_view(make) for what, make in content.OF_A_VIEW.items()},
}


def serve_trace(request: Request, make: Callable[[Trace, ViewOptions], Response]) -> Response:
    """What ``make`` gives for the trace in the address; 410 when it is gone or the seal is not its own.

    400, in a sentence, when something else in the address is wrong, or it took too long.
    """
    query = request.query_params
    look = ViewOptions.from_query(*(query.get(name, "") for name in ("part", "words", "special", "renormalise")))
    with use_request_language(request):
        try:
            asked = request.path_params["trace"]
            known = hmac.compare_digest(query.get("seal", "").encode(), trace_seal(asked).encode())
            trace = get_trace_store().find(asked) if known else None
            if trace is None:
                return PlainTextResponse(_("This text is no longer in memory; it has to be read again."), 410)
            return make(trace, look)
        except (BadRequest, UserError, Unavailable) as error:
            return PlainTextResponse(translate(error_message(error)), 400)


def _binary(content: bytes) -> Response:
    # Streamlit would gzip it: 34 ms of processor time to save a fifth of a tile of 512 x 512 halves.
    headers = {**FOREVER, "Content-Encoding": "identity"}
    return Response(content, media_type="application/octet-stream", headers=headers)


def trace_file(request: Request) -> Response:
    """The trace as a file, its tokens as they were read."""

    def file(trace: Trace, _look: ViewOptions) -> Response:
        return attachment("trace.safetensors", "application/octet-stream", dump, get_trace_store().original(trace))

    return serve_trace(request, file)


def attachment(name: str, media_type: str, make: Callable[..., bytes], *arguments: Any) -> Response:
    """A file to be saved, for endpoints behind FILES."""
    return file_response(f"headlight-{name}", media_type, make(*arguments))


def file_response(name: str, media_type: str, content: bytes) -> Response:
    """Return a file that the browser saves by its name, which may have letters of any script."""
    headers = {**FOREVER, "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return Response(content, media_type=media_type, headers=headers)


def routes() -> list[Route]:
    """The routes, for the app. What they send is made in threads of their own."""
    frames = [Route(f"{PREFIX}/{{trace}}/{what}", _endpoint(make)) for what, make in FRAMES.items()]
    return [
        Route(explore.ADDRESS, _script),
        *frames,
        Route(f"{PREFIX}/{{trace}}/trace.safetensors", FILES.endpoint(trace_file)),
    ]


def _script(request: Request) -> Response:
    """The component's script in a language, whose address holds its hash."""
    code = request.path_params["code"]
    if code not in available_languages():
        return PlainTextResponse(_("There is no such script."), 404)
    return Response(explore.script_in_language(code), media_type="text/javascript", headers=FOREVER)


def _endpoint(make: Callable[[Trace, ViewOptions, QueryFields], bytes]) -> Callable[[Request], Awaitable[Response]]:
    def endpoint(request: Request) -> Response:
        return serve_trace(request, lambda trace, look: _binary(make(trace, look, request.query_params)))

    return reader_endpoint(endpoint)
