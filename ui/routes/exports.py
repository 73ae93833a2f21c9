"""Routes that download the view on Explore: images, weights, the strongest links, HTML and a notebook."""

from __future__ import annotations

import itertools
import re
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from attention.spreadsheet import file_stem, with_provenance
from attention.trace import Trace
from attention.view import View
from i18n import error_message, gettext_lazy
from inference import LocalBackend, TraceRequest
from ui.routes.traces import FILES as MAKING
from ui.routes.traces import PREFIX, file_response, serve_trace
from ui.run.services import ViewOptions, get_trace_store, prior_map
from viz.components.explore import explore
from viz.components.explore.content import BadRequest, head_of, number
from viz.components.explore.options import DECLARED as MICROSCOPE
from viz.components.standalone.standalone import standalone_html
from viz.export import TooLong, caption, links_csv, weights_json
from viz.paper.notebook import citation, computation_notebook, weights_computation, weights_methods
from viz.paper.page import FORMATS as IMAGES
from viz.paper.page import BadOption, paper_options, render
from viz.paper.tables import FORMATS as TABLES
from viz.paper.tables import table_file, weights_table

PINS = re.compile(r"(\d{1,4}\.\d{1,4})(-\d{1,4}\.\d{1,4}){0,7}")


def image(trace: Trace, look: ViewOptions, request: Request) -> Response:
    """Return the selected head's map as an image for a paper; the query contains the options."""
    from viz.paper.matrix import draw_matrix  # imports matplotlib, which takes half a second

    view = get_trace_store().view(trace, look)
    layer, head = head_of(request.query_params, view)
    options = paper_options(request.query_params)
    content = render(lambda: draw_matrix(view, layer, head, options), options.format)
    name = file_stem("headlight-attention", caption(view, layer, head))
    return file_response(f"{name}.{options.format}", IMAGES[options.format], content)


def _weights(file_format: str) -> Callable[[Trace, ViewOptions, Request], Response]:
    """Return the function for the selected head's weights as a tidy table."""

    def table(trace: Trace, look: ViewOptions, request: Request) -> Response:
        view = get_trace_store().view(trace, look)
        layer, head = head_of(request.query_params, view)
        about = caption(view, layer, head)
        content = table_file(weights_table(view, layer, head), file_format, about)
        name = f"{file_stem('headlight-attention', about)}.{file_format}"
        return file_response(name, TABLES[file_format], content)

    return table


def json(trace: Trace, look: ViewOptions, request: Request) -> Response:
    """Return the selected head's weights and the token data as JSON."""
    view = get_trace_store().view(trace, look)
    layer, head = head_of(request.query_params, view)
    content, about = weights_json(view, layer, head), caption(view, layer, head)
    return file_response(f"{file_stem('headlight-attention', about)}.json", "application/json", content)


def links(trace: Trace, look: ViewOptions, _request: Request) -> Response:
    """Return the strongest links over all heads as CSV, zipped with their provenance."""
    view = get_trace_store().view(trace, look)
    return _zip("headlight-links", links_csv(view), caption(view))


def html(trace: Trace, look: ViewOptions, request: Request) -> Response:
    """Return the microscope with its data as an HTML file that works offline."""
    view, survey = get_trace_store().view(trace, look), get_trace_store().survey(trace, look)
    data = explore.payload(view, survey, _selection(request, trace, look), "", "")
    habits = explore.places(prior_map(trace, look.part or None), view)
    page = standalone_html(view, data, survey, habits, explore.script(), explore.style())
    return file_response("headlight-export.html", "text/html", page.encode())


def notebook(trace: Trace, look: ViewOptions, request: Request) -> Response:
    """Return a notebook that reproduces the selected head's weights."""
    view = get_trace_store().view(trace, look)
    layer, head = head_of(request.query_params, view)
    computation = weights_computation(view, layer, head, _request_of(trace))
    about = weights_methods(view, layer, head)
    content = computation_notebook(computation, LocalBackend, about, view.weights(layer, head).astype(np.float64))
    name = file_stem("headlight-attention", caption(view, layer, head))
    return file_response(f"{name}.ipynb", "application/x-ipynb+json", content)


def methods(trace: Trace, look: ViewOptions, request: Request) -> Response:
    """Return the methods sentence of the selected head's weights and the citation, separated by an empty line."""
    view = get_trace_store().view(trace, look)
    layer, head = head_of(request.query_params, view)
    name = f"{file_stem('headlight-methods', caption(view, layer, head))}.txt"
    content = f"{weights_methods(view, layer, head)}\n\n{citation()}\n"
    return file_response(name, "text/plain; charset=utf-8", content.encode())


def _request_of(trace: Trace) -> TraceRequest:
    """Return the request that gives the trace; raise BadRequest for files, pictures and edits."""
    plain: dict[str, Any] = {"model": trace.model.name, "text": trace.text}
    optional: dict[str, Any] = {"pair": trace.pair, "target": trace.target_text, "revision": trace.model.revision}
    if trace.whole is not None:
        optional["cut"] = len(trace.source)
    for count in range(len(optional) + 1):
        for names in itertools.combinations(optional, count):
            fields = plain | {name: optional[name] for name in names if optional[name]}
            if (request := TraceRequest(**fields)).key == trace.id:
                return request
    raise BadRequest(gettext_lazy("A notebook cannot reproduce opened files, pictures or edited passes."))


def _zip(name: str, table: bytes, about: dict[str, Any]) -> Response:
    stem = file_stem(name, about)
    return file_response(f"{stem}.zip", "application/zip", with_provenance(stem, table, about))


FILES: dict[str, Callable[[Trace, ViewOptions, Request], Response]] = {
    "export.image": image,
    "export.csv": _weights("csv"),
    "export.parquet": _weights("parquet"),
    "export.json": json,
    "export.html": html,
    "export.ipynb": notebook,
    "export.txt": methods,
    "links.csv": links,
}


def _selection(request: Request, trace: Trace, look: ViewOptions) -> dict[str, Any]:
    """Return the selection in the request's query."""
    view, query = get_trace_store().view(trace, look), request.query_params
    layer, head = head_of(request.query_params, view)
    places = {"focus": len(view.queries), "target": len(view.keys)}
    found: dict[str, Any] = {
        "layer": layer,
        "head": head,
        "pinned": _pinned_heads(query.get("pinned", ""), view),
    }
    found |= {name: number(query, name, end) if query.get(name) else None for name, end in places.items()}
    for name, declared in MICROSCOPE.items():
        found[name] = query[name] if query.get(name) in declared.choices else declared.default
    return found


def _pinned_heads(raw: str, view: View) -> list[list[int]]:
    if not raw:
        return []
    if not PINS.fullmatch(raw):
        raise BadRequest(gettext_lazy("“pinned” is {raw!r}; expected a form like 3.1-4.0.", raw=raw[:40]))
    pins = [[int(part) for part in pin.split(".")] for pin in raw.split("-")]
    return [pin for pin in pins if pin[0] < view.layers and pin[1] < view.heads]


def _endpoint(name: str) -> Callable[[Request], Awaitable[Response]]:
    make = FILES[name]

    def content(trace: Trace, look: ViewOptions, request: Request) -> Response:
        try:
            return make(trace, look, request)
        except (TooLong, BadOption) as error:
            raise BadRequest(error_message(error)) from error

    def endpoint(request: Request) -> Response:
        return serve_trace(request, lambda trace, look: content(trace, look, request))

    return MAKING.endpoint(endpoint)


def routes() -> list[Route]:
    """Return the routes of the exports."""
    return [Route(f"{PREFIX}/{{trace}}/{name}", _endpoint(name)) for name in FILES]
