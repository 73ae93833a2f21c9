"""The view BertViz: its three views of the current trace as sandboxed documents without access to the network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from attention.trace import Trace, attention_everywhere
from i18n import _, gettext_lazy, translate
from ui.input.composing import compose
from ui.routes.limits import in_language, reader_endpoint
from ui.routes.traces import FOREVER, serve_trace
from ui.run.notices import show_notice
from ui.run.page_model import kind_of
from ui.run.services import ViewOptions, get_trace_store, trace_seal
from ui.run.traces import read_trace
from ui.show.chart import theme
from ui.show.views import link_to_view
from ui.state.selection import resolve_view, select
from ui.state.session import get_view_state, set_view_state
from ui.state.view_state import ViewState, example_of
from viz.bertviz.vendor import policy, vendor
from viz.bertviz.views import head_html, height, model_html, neuron_html, too_long
from viz.components.base_path import BASE
from viz.components.explore.content import BadRequest, head_of
from viz.figures.theme import DARK

PREFIX = f"{BASE}/headlight/bertviz"
VENDOR = f"{BASE}/headlight/vendor"
KINDS: dict[str, Callable[..., str]] = {"head": head_html, "model": model_html, "neuron": neuron_html}


def document(request: Request) -> Response:
    """Respond with the HTML page of a BertViz view of a trace.

    If the view is unknown or the text is too long for BertViz, respond with an error message.
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


NAMES = {
    "head": gettext_lazy("BertViz head view: one layer as lines"),
    "model": gettext_lazy("BertViz model view: all heads"),
    "neuron": gettext_lazy("BertViz neuron view: query and keys of each weight"),
}
TITLES = {"head": gettext_lazy("Head"), "model": gettext_lazy("Model"), "neuron": gettext_lazy("Neuron")}
KIND = "bertviz_kind"
TALLEST = 900  # pixels; longer documents scroll inside


def draw(choice: ViewState, trace: Trace) -> None:
    """Draw the chosen view, or the reason if it is not available for this text."""
    kind = choice.bertviz
    st.session_state[KIND] = kind
    st.segmented_control(
        _("View"),
        list(KINDS),
        required=True,
        key=KIND,
        format_func=lambda name: translate(TITLES[name]),
        on_change=lambda: set_view_state(bertviz=st.session_state[KIND]),
    )
    st.caption(translate(NAMES[kind]))
    look, notes = resolve_view(choice, trace)
    view = get_trace_store().view(trace, look)
    for note in notes:
        show_notice(note, role="status")
    refused: str | None = (
        too_long(kind, view) if view.queries and view.keys else _("Only hidden special tokens are left.")
    )
    if kind == "neuron":
        refused = attention_everywhere(view.layers, view.attending) or refused
    if kind == "neuron" and not trace.has_qkv(look.part or None):
        refused = _(
            "The neuron view needs queries and keys, which {architecture} lacks.",
            architecture=trace.model.architecture,
        )
    if refused is not None:
        show_notice(refused, role="status")
        link_to_view("explore", _("Open all heads"), icon=":material/grid_view:")
        return
    selection = select(choice, view, example_of(trace.text, trace.pair or ""))[0]
    where = f"layer={selection['layer']}&head={selection['head']}&dark={int(theme() is DARK)}"
    address = f"{PREFIX}/{trace.id}/{kind}?{look.query()}&{where}&seal={trace_seal(trace.id)}" + in_language()
    st.iframe(address, height=min(height(kind, view), TALLEST), alt=translate(NAMES[kind]))


def draw_view() -> None:
    """Draw the view BertViz in the page."""
    chosen = get_view_state()
    compose(chosen, kind_of(chosen))
    found = read_trace(chosen)
    if found is not None:
        draw(chosen, found)
