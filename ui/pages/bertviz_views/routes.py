"""Routes that serve BertViz's views as sandboxed documents without access to the app or the network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from attention.trace import Trace
from i18n import _, translate
from ui.routes.limits import reader_endpoint
from ui.routes.traces import FOREVER, serve_trace
from ui.run.services import ViewOptions, get_trace_store
from viz.bertviz.vendor import policy, vendor
from viz.bertviz.views import head_html, model_html, neuron_html, too_long
from viz.components.base_path import BASE
from viz.components.explore.content import BadRequest, head_of

PREFIX = f"{BASE}/headlight/bertviz"
VENDOR = f"{BASE}/headlight/vendor"
KINDS: dict[str, Callable[..., str]] = {"head": head_html, "model": model_html, "neuron": neuron_html}


def document(request: Request) -> Response:
    """Respond with a BertViz view of a trace.

    An unknown view, or a text that is too long for BertViz, is answered by an error sentence.
    """
    return serve_trace(request, lambda trace, look: _document(trace, look, request))


def _document(trace: Trace, look: ViewOptions, request: Request) -> Response:
    kind = request.path_params["kind"]
    if kind not in KINDS:
        raise BadRequest(
            _("There is no BertViz view “{kind}”; there are {kinds}.", kind=kind[:20], kinds=", ".join(KINDS))
        )
    view = get_trace_store().view(trace, look)
    sentence = too_long(kind, view)
    if sentence is not None:
        raise BadRequest(translate(sentence))
    layer, head = head_of(request.query_params, view)
    asked = request.query_params
    options: dict[str, Any] = {
        "prefix": VENDOR,
        "dark": asked.get("dark") == "1",
    }
    chosen: dict[str, dict[str, Any]] = {
        "head": {"layer": layer, "heads": [head]},
        "model": {},
        "neuron": {"layer": layer, "head": head},
    }
    options |= chosen[kind]
    try:
        headers = {**FOREVER, "Content-Security-Policy": policy(request.headers.get("host", ""), VENDOR)}
    except ValueError as error:
        raise BadRequest(str(error)) from error
    return Response(KINDS[kind](view, **options), media_type="text/html", headers=headers)


def script(request: Request) -> Response:
    """Respond with a vendored script of the BertViz documents, or with 404 for an unknown name."""
    try:
        content = vendor(request.path_params["name"])
    except KeyError:
        return PlainTextResponse("There is no such script.", 404)
    # The sandbox gives documents an opaque origin, so this server is cross-origin for them.
    headers = {**FOREVER, "Cross-Origin-Resource-Policy": "cross-origin"}
    return Response(content, media_type="text/javascript", headers=headers)


def routes() -> list[Route]:
    """Return the routes of the views and of their scripts."""
    return [Route(f"{PREFIX}/{{trace}}/{{kind}}", reader_endpoint(document)), Route(f"{VENDOR}/{{name}}", script)]
