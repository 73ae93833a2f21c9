"""Routes of the page Pictures: the photo, whole attention maps, and the page as an HTML file."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from attention.codec import frame
from attention.trace import Trace
from i18n import _, gettext_lazy
from ui.routes.limits import reader_endpoint
from ui.routes.traces import FILES, FOREVER, PREFIX, attachment, serve_trace
from ui.run.services import get_trace_store
from viz.components.explore.content import BadRequest, number
from viz.components.picture.content import (
    FACINGS,
    KINDS,
    PictureSelection,
    encode_map,
    grid_and_picture,
    head_map,
    in_every_head,
    kind_of_photo,
    part_of,
    photo,
    picture_html,
    rollout_map,
)

LARGEST_MAP = 4_200  # Maximum number of tokens for a whole map, which has 17 MB at this size.
NO_PICTURE = gettext_lazy("This is a text, not a picture.")
TOO_MANY = gettext_lazy("This picture has too many patches for a whole map; rows are available.")


def picture(trace: Trace, _request: Request) -> Response:
    """Return the photo in a format for browsers."""
    file = photo(grid_and_picture(trace)[1])
    return Response(file, media_type=kind_of_photo(file), headers=FOREVER)


def patches(trace: Trace, request: Request) -> Response:
    """Return a head's whole map, a byte per weight: the square root of the weight (attention.codec.sqrt8)."""
    _sent_whole(trace)
    records, query = trace.records(part_of(trace)), request.query_params
    layer = number(query, "layer", len(records))
    return _frame(encode_map(head_map(records, layer, number(query, "head", records[layer].heads))))


def norms(trace: Trace, request: Request) -> Response:
    """Return a head's whole map of weights times norms of value vectors, coded as in ``patches``."""
    _sent_whole(trace)
    records, query = trace.records(part_of(trace)), request.query_params
    layer = number(query, "layer", len(records))
    return _frame(encode_map(head_map(records, layer, number(query, "head", records[layer].heads), "norms")))


def norms_rows(trace: Trace, request: Request) -> Response:
    """Return the attention from a query in all heads, as weights times norms of value vectors, in float16."""
    token = number(request.query_params, "query", len(trace.source))
    return _frame(frame({}, {"rows": (in_every_head(trace.records(part_of(trace)), "out", token, "norms"), "float16")}))


def norms_columns(trace: Trace, request: Request) -> Response:
    """Return the attention to a key in all heads, as weights times norms of value vectors, in float16."""
    token = number(request.query_params, "key", len(trace.source))
    with get_trace_store().gate:
        found = in_every_head(trace.records(part_of(trace)), "in", token, "norms")
    return _frame(frame({}, {"columns": (found, "float16")}))


def rollout(trace: Trace, _request: Request) -> Response:
    """Return the attention rollout over all layers, coded as in ``patches``."""
    _sent_whole(trace)
    with get_trace_store().gate:
        return _frame(encode_map(rollout_map(trace.records(part_of(trace)))))


def page(trace: Trace, request: Request) -> Response:
    """Return the view of the picture as an HTML file."""
    title = request.query_params.get("title", "")[:200] or _("Picture")
    look = _selection(trace, request)
    about = description_of(trace, request.query_params.get("cited", "")[:600])
    return attachment("picture.html", "text/html", lambda: picture_html(trace, look, title, about).encode())


def description_of(trace: Trace, cited: str = "") -> list[tuple[str, str]]:
    """Return the (label, value) pairs written on a saved picture: model, size and the picture's source.

    ``cited`` names the source, "" if it is unknown. Pairs without a value are left out.
    """
    _grid, given = grid_and_picture(trace)
    told = [
        (_("Model"), trace.model.name),
        (_("Revision"), trace.model.revision or ""),
        (_("SHA-256 of the weights"), trace.model.weights or ""),
        (_("Picture"), _("{width} × {height} pixels", width=given.width, height=given.height)),
        (_("Whose picture"), cited),
    ]
    return [(name, value) for name, value in told if value]


FRAMES = (patches, norms, norms_rows, norms_columns, rollout)


def routes() -> list[Route]:
    """Return the routes of pictures."""
    return [
        Route(f"{PREFIX}/{{trace}}/picture.jpg", reader_endpoint(_endpoint(picture))),
        *(Route(f"{PREFIX}/{{trace}}/{make.__name__}", reader_endpoint(_endpoint(make))) for make in FRAMES),
        Route(f"{PREFIX}/{{trace}}/picture.html", FILES.endpoint(_endpoint(page))),
    ]


def _endpoint(make: Callable[[Trace, Request], Response]) -> Callable[[Request], Response]:
    def of_picture(trace: Trace, request: Request) -> Response:
        if trace.picture is None or trace.source.grid is None:
            raise BadRequest(NO_PICTURE)
        return make(trace, request)

    return lambda request: serve_trace(request, lambda trace, _look: of_picture(trace, request))


def _sent_whole(trace: Trace) -> None:
    if len(trace.source) > LARGEST_MAP:
        raise BadRequest(TOO_MANY)


def _frame(content: bytes) -> Response:
    return Response(content, media_type="application/octet-stream", headers=FOREVER)


def _selection(trace: Trace, request: Request) -> PictureSelection:
    """Return the selection in the request's query."""
    records, query = trace.records(part_of(trace)), request.query_params
    layer = number(query, "layer", len(records))
    facing, by = (query.get(name, names[0]) for name, names in (("facing", FACINGS), ("by", KINDS)))
    return PictureSelection(
        layer,
        number(query, "head", records[layer].heads),
        number(query, "token", len(trace.source)),
        facing if facing in FACINGS else FACINGS[0],
        by if by in KINDS else KINDS[0],
    )
