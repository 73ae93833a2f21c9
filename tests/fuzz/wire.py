"""Fuzz targets for messages: frames between processes, events of components and browsers, and all routes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import streamlit
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.testclient import TestClient

from attention.codec import JSON, decode, encode
from attention.edits import Ablate, MaskEdge
from attention.storage import dump
from attention.trace import Trace
from i18n import gettext_lazy
from inference import TraceRequest, UserError
from serving.protocol import START, SUM, InvalidFrame, checksum_of, pack, unpack
from tests.fuzz.door import Door
from tests.fuzz.files import TRACES
from tests.fuzz.harming import harmed, harmed_tree, queries, values, whole_texts
from tests.support.traces import sentence_trace
from ui.pages.bertviz_views import page as bertviz_views
from ui.pages.teach import saved_model as teach
from ui.pages.vectors import corpus as vectors
from ui.routes import classes, exports, pictures, selection_tokens, traces
from ui.run.services import ViewOptions, get_trace_store, trace_seal
from ui.server import metrics
from ui.server.metrics import RequestMetrics
from ui.server.middleware import Guard, SecurityHeaders, VisitorCookie
from ui.show.microscope import FIELDS, apply_selection
from ui.state.selection import changes
from ui.state.selection_token import KeptSelection, SelectionToken
from ui.state.view_state import ViewState, parse, to_query
from viz.components.block import block
from viz.components.explore.options import MicroscopeOptions
from viz.components.matrices import matrices
from viz.components.picture import picture
from viz.components.stack import stack
from viz.components.token_strip import token_strip
from viz.components.tokenizer_steps import tokenizer_steps
from viz.components.tree import tree
from viz.figures import head_maps

ROOMS = (traces, selection_tokens, classes, exports, pictures, bertviz_views, teach, vectors)
ROUTES = (*(route for room in ROOMS for route in room.routes()), *metrics.health_routes())

# --- frames -------------------------------------------------------------------------------------------------------

ASKED = (
    (TraceRequest(text="The cat", edits=(Ablate(1, 2), MaskEdge(0, 1, 2, 3))), {"a": float("inf"), 3: None}),
    UserError(gettext_lazy("No model of {name} is here.", name="x"), way_out="text", details={"tokens": 9}),
    sentence_trace(),
)
FRAMES = tuple(map(pack, ASKED))


def _sealed(frame: bytes) -> bytes:
    """Return the bytes with a valid start and checksum."""
    whole = frame[:8] + START + bytes(16) + frame[SUM.stop :]
    return whole[: SUM.start] + checksum_of(whole) + whole[SUM.stop :]


def _frame_of(number: int, tree: Any) -> bytes:
    """Return a frame with another tree, the same arrays and a valid checksum."""
    metadata, tensors = decode(FRAMES[number])
    return _sealed(b"".join(encode({**metadata, JSON: json.dumps(tree, default=str)}, tensors)))


def _tree_of(frame: bytes) -> Any:
    return json.loads(decode(frame)[0][JSON])


# --- events of components -----------------------------------------------------------------------------------------

SELECTION = {
    "layer": 1,
    "head": 2,
    "focus": 3,
    "target": None,
    "pinned": [[0, 1]],
    **vars(MicroscopeOptions()),
}
LOOK = {"layer": 1, "head": 2, "token": 3, "facing": "out", "by": "weights"}
PICKED: dict[str, Callable[[str], object]] = {
    "strip": token_strip.picked_chip,
    "ladder": tokenizer_steps.picked_part,
    "matrices": matrices.picked_cell,
    "stack": stack.picked_part,
    "block": block.picked_part,
    "tree": tree.picked_node,
    "picture": lambda key: (picture.pasted_file(key), picture.picked_selection(key, 2, 3, 6)),
}


def _told(value: Any) -> None:
    """Call every component's reader, because any message may come from any component."""
    for read in PICKED.values():
        with patch.object(streamlit, "session_state", {"key": {"picked": value}}):
            read("key")


@cache
def _trace() -> Trace:
    return get_trace_store().open(dump(sentence_trace()))


def _selected(value: dict[str, Any]) -> None:
    view = get_trace_store().view(_trace(), ViewOptions())
    found = changes(value, view)
    chosen = replace(ViewState(), **found)
    assert parse(to_query(chosen))[0] == chosen  # The address of the selection must be readable.
    chosen.pinned_heads()


def _kept(said: Any) -> None:
    """Apply a selection; assert that the result is a valid choice or None."""
    found = apply_selection(_trace().id, ViewOptions(), ViewState(opened=_trace().id), said)
    assert found is None or isinstance(found, KeptSelection)


# --- routes -------------------------------------------------------------------------------------------------------


@cache
def client() -> TestClient:
    middleware = [Middleware(RequestMetrics), Middleware(SecurityHeaders), Middleware(Guard), Middleware(VisitorCookie)]
    return TestClient(
        Starlette(routes=[*ROUTES, Route(metrics.ADDRESS, metrics.metrics)], middleware=middleware), "http://localhost"
    )


@cache
def _paths() -> tuple[str, ...]:
    return tuple(route.path for route in ROUTES)


@cache
def _ids() -> tuple[str, ...]:
    return (_trace().id, *(shelf_hold(file).id for file in TRACES[1:4]))


HELD: list[Trace] = []  # The store keeps traces of pictures only while they are referenced.


def shelf_hold(file: bytes) -> Trace:
    trace = get_trace_store().open(file)
    HELD.append(trace)
    return trace


NAMES = (
    "part", "words", "special", "renormalise", "query", "key", "layer", "head", "q0", "q1", "k0", "k1", "size", "count",
    "pinned", "focus", "target", "tab", "facing", "by", "title", "cited", "token", "dark", "since", "lang", "seal",
)  # fmt: skip
HEADERS = ["cookie", "origin", "range", "x-forwarded-for", "authorization", "accept-encoding"]
WORDS = ("encoder", "decoder", "cross", "2", "4", "5", "1.1-0.2", "in", "out", "zh", "64")
Asking = tuple[int, int, str, bool, dict[str, str], dict[str, str]]
printable = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40)
headers = st.dictionaries(st.sampled_from(HEADERS), printable, max_size=2)
asking = st.tuples(st.integers(0, 40), st.integers(0, 3), whole_texts, st.booleans(), queries(NAMES, WORDS), headers)


def _fetch(given: Asking) -> None:
    path, which, other, known, query, head = given
    which_id = _ids()[which % len(_ids())]
    address = _paths()[path % len(_paths())]
    for name in ("{trace}", "{run}", "{id}", "{code}", "{kind}", "{name}"):
        address = address.replace(name, quote(which_id if name == "{trace}" and known else other or "head", safe=""))
    asked = {**({"seal": trace_seal(which_id)} if known else {}), **query}
    answer = client().get(address, params=asked, headers=head)
    assert answer.status_code < 500 or address.startswith("/healthz"), (answer.status_code, answer.text)


def _post(body: bytes) -> None:
    assert client().post(selection_tokens.ADDRESS, content=body).status_code < 500


@cache
def _slip() -> SelectionToken:
    return SelectionToken("session", ViewState(), lambda _now, _said: None, lambda _choice: {}, {})


def _posted(said: Any) -> None:
    """Post a selection with a valid token."""
    _post(json.dumps({"slip": _slip().token, "selection": said}).encode())


DOORS = (
    Door("frame, bytes", harmed(FRAMES), unpack, (InvalidFrame,), 2),
    Door(
        "frame, sealed",
        harmed(FRAMES).map(_sealed),
        unpack,
        (InvalidFrame,),
        mixes=False,
    ),
    Door(
        "frame, tree",
        st.one_of([harmed_tree([_tree_of(frame)]).map(partial(_frame_of, at)) for at, frame in enumerate(FRAMES)]),
        unpack,
        (InvalidFrame,),
        2,
        mixes=False,
    ),
    Door(
        "component", st.one_of(values, harmed_tree([[1, 2], [0, 1, 2], 3, "a", LOOK, {"pasted": "YQ=="}])), _told, (), 2
    ),
    Door(
        "a chart's event",
        harmed_tree([{"selection": {"points": [{"customdata": [1, 2]}]}}]),
        head_maps.picked_head,
        (),
        2,
    ),
    Door(
        "microscope",
        st.dictionaries(st.sampled_from(sorted(FIELDS)), values).map(lambda more: {**SELECTION, **more}),
        _selected,
        (),
        2,
    ),
    Door("slip, selection", harmed_tree([SELECTION]), _kept, (), 2),
    Door(
        "slip, post", st.one_of(harmed([b'{"slip": "x", "selection": {}}']), st.binary(max_size=5000)), _post, (), 0.3
    ),
    Door("slip, good", values, _posted, (), 0.3),
    Door("routes", asking, _fetch, (), 0.3),
)
