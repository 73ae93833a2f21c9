"""Routes that serve a trace's maps, rows and tiles to the components, as binary messages.

The address contains the trace's id. The content of an address never changes, so browsers may cache it. The address
also contains the trace's seal, which only the page of the trace has. An unknown id or a wrong seal gets 410, and the
page then computes the trace again.
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
from ui.run.services import ViewOptions, get_trace_store, prior_map, trace_seal
from viz.components.base_path import BASE
from viz.components.explore import content, explore
from viz.components.explore.content import BadRequest, QueryFields

PREFIX = f"{BASE}/headlight/trace"
FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}


# A file may take much memory. A class may request files together; further requests are rejected.
FILES = ConcurrencyLimit(2, 30, gettext_lazy("The server is busy. Try again soon."), each=8)


def grid(trace: Trace, look: ViewOptions, _asked: QueryFields) -> bytes:
    """Return the thumbnails of all heads' maps as a binary message, with the heads' positional priors, if known."""
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
    """Return the response of ``make`` for the trace in the address.

    Return 410 if the trace is not in memory or the seal is wrong, and 400 with a message for other errors and
    timeouts.
    """
    query = request.query_params
    look = ViewOptions.from_query(*(query.get(name, "") for name in ("part", "words", "special", "renormalise")))
    with use_request_language(request):
        try:
            asked = request.path_params["trace"]
            known = hmac.compare_digest(query.get("seal", "").encode(), trace_seal(asked).encode())
            trace = get_trace_store().find(asked) if known else None
            if trace is None:
                return PlainTextResponse(_("It left the memory; load it again."), 410)
            return make(trace, look)
        except (BadRequest, UserError, Unavailable) as error:
            return PlainTextResponse(translate(error_message(error)), 400)


def _binary(content: bytes) -> Response:
    # Streamlit would compress it: 34 ms of CPU time for 20 % of a tile of 512 × 512 float16 values.
    headers = {**FOREVER, "Content-Encoding": "identity"}
    return Response(content, media_type="application/octet-stream", headers=headers)


def trace_file(request: Request) -> Response:
    """Return the trace as a safetensors file, with its original tokens."""

    def file(trace: Trace, _look: ViewOptions) -> Response:
        return attachment("trace.safetensors", "application/octet-stream", dump, get_trace_store().original(trace))

    return serve_trace(request, file)


def attachment(name: str, media_type: str, make: Callable[..., bytes], *arguments: Any) -> Response:
    """Return the bytes that ``make`` returns as a download with the file name ``name``.

    An endpoint that calls this function must itself be limited by FILES, because making a file takes long.
    """
    return file_response(f"headlight-{name}", media_type, make(*arguments))


def file_response(name: str, media_type: str, content: bytes) -> Response:
    """Return ``content`` as a download with a file name, which may contain non-ASCII letters."""
    headers = {**FOREVER, "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
    return Response(content, media_type=media_type, headers=headers)


def routes() -> list[Route]:
    """Return the routes of traces; their endpoints run in threads of their own."""
    frames = [Route(f"{PREFIX}/{{trace}}/{what}", _endpoint(make)) for what, make in FRAMES.items()]
    return [
        Route(explore.ADDRESS, _script),
        *frames,
        Route(f"{PREFIX}/{{trace}}/trace.safetensors", FILES.endpoint(trace_file)),
    ]


def _script(request: Request) -> Response:
    """Return the component's script in a language; its address contains its hash."""
    code = request.path_params["code"]
    if code not in available_languages():
        return PlainTextResponse(_("There is no such script."), 404)
    return Response(explore.script_in_language(code), media_type="text/javascript", headers=FOREVER)


def _endpoint(make: Callable[[Trace, ViewOptions, QueryFields], bytes]) -> Callable[[Request], Awaitable[Response]]:
    def endpoint(request: Request) -> Response:
        return serve_trace(request, lambda trace, look: _binary(make(trace, look, request.query_params)))

    return reader_endpoint(endpoint)
