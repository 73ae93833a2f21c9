"""The microscope and matrices on a page, links to Explore, and selections stored without a script run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from attention.measures import HeadSummary
from attention.trace import Trace
from attention.view import View
from i18n import _
from ui.classroom import view_presenter
from ui.input.view_options import pick_part
from ui.routes.limits import in_language
from ui.routes.selection_tokens import ADDRESS
from ui.routes.traces import PREFIX
from ui.run.notices import show_notice
from ui.run.services import ViewOptions, get_trace_store, trace_seal
from ui.show.chart import draw_notebook_menu
from ui.show.tables import page_provenance
from ui.show.views import link_to_view
from ui.state.selection import (
    changes,
    directed_selection,
    last_view_entries,
    load_baselines,
    resolve_view,
    select,
    set_last_view,
)
from ui.state.selection_token import KeptSelection
from ui.state.session import get_view_state, notes, set_view_state, store_selection_token
from ui.state.view_state import PINNED, ViewState, example_of, fits, to_query
from viz.components.explore import explore
from viz.components.explore.options import DECLARED as MICROSCOPE
from viz.components.matrices import matrices
from viz.components.matrices.matrices import About, MatrixSpec
from viz.figures.theme import truncate
from viz.paper.notebook import Computation

FIELDS = {"layer", "head", "focus", "target", "pinned", *MICROSCOPE}


def selection_token_for(trace_id: str, look: ViewOptions) -> dict[str, str] | None:
    """Return the address and the secret of a new selection token, or None if clicks need a script run.

    With a selection token, the browser stores clicks without running the page's script (ui/state/selection_token.py). A
    run is needed if the page shows notes, which a click removes, or if the text does not fit into an address.
    """
    if notes() or not fits(get_view_state()):
        return None
    return {
        "address": ADDRESS,
        "token": store_selection_token(partial(apply_selection, trace_id, look), view_presenter()),
    }


def apply_selection(trace_id: str, look: ViewOptions, choice: ViewState, said: Any) -> KeptSelection | None:
    """Return the view state after a selection in the browser, with the session entries to store.

    ``choice`` is the view state before, and ``said`` the selection as sent by the browser. Return None if a script run
    must apply the selection.
    """
    trace = get_trace_store().find(trace_id)
    if trace is None or not well_formed(said):
        return None
    view = get_trace_store().view(trace, look)
    now = replace(choice, **changes(said, view))
    shown, problems = select(now, view, example_of(trace.text, trace.pair or ""))
    shown = directed_selection(shown, now, view)
    if problems or any(shown[name] != said[name] for name in FIELDS) or not fits(now):
        return None
    return KeptSelection(now, last_view_entries(trace.model.name, trace_id, changes(shown, view)))


def well_formed(said: Any) -> bool:
    """Return True if a value has the fields of a selection, with the correct types.

    >>> well_formed({}), well_formed([]), well_formed(None)
    (False, False, False)
    """
    if not isinstance(said, Mapping) or set(said) != FIELDS:
        return False
    pins = said["pinned"]
    return (
        all(type(said[name]) is int for name in ("layer", "head"))
        and all(said[name] is None or type(said[name]) is int for name in ("focus", "target"))
        and all(isinstance(said[name], str) for name in MICROSCOPE)
        and isinstance(pins, list)
        and len(pins) <= PINNED
        and all(isinstance(pin, list) and [type(part) for part in pin] == [int, int] for pin in pins)
    )


LONGEST = 2000  # Maximum length of a text in the provenance of a matrix.


def draw_matrices(  # noqa: PLR0913  (independent options, by name)
    sheets: Sequence[MatrixSpec],
    key: str,
    *,
    on_pick: Callable[[], None] | None = None,
    numbers: bool | None = None,
    about: About | None = None,
    computation: Computation | None = None,
) -> None:
    """Draw matrices on the page; ``about`` is their provenance, by default the page's model and text.

    ``numbers`` prints the value of each cell; None prints it in small matrices only. ``computation`` is notebook code
    that computes the first matrix.
    """
    told = tuple(page_provenance().items()) if about is None else about
    short = [(name, truncate(value, LONGEST)) for name, value in told]
    matrices.mount(sheets, key, on_pick=on_pick, numbers=numbers, about=short)
    if computation is not None:
        draw_notebook_menu(sheets[0].name, key, lambda: sheets[0].values, lambda: dict(told), lambda: computation)


def explore_link(there: ViewState) -> None:
    """Draw a link that opens the view state ``there`` on Explore, if its text fits into an address."""
    if fits(there):
        link_to_view(
            "explore",
            _("Open Attention heads"),
            icon=":material/grid_view:",
            query=to_query(there),
            help=_("This sentence and this head"),
        )


KEY = "explore"
AT_ONCE = 2_000_000  # Maximum number of weights that are searched without a spinner.
ChangeHandler = Callable[[Mapping[str, Any]], None]


def draw_microscope(  # noqa: PLR0913  (independent options, by name)
    choice: ViewState,
    trace: Trace,
    shown: Callable[[], str],
    part: str | None = None,
    kept: ChangeHandler | None = None,
    key: str = KEY,
    *,
    alone: bool = False,
    quiet: bool = False,
    asks_head: bool = False,
) -> tuple[View, HeadSummary, dict[str, Any]] | None:
    """Draw the microscope; return its view, summary and selection, or None if all tokens are hidden.

    ``shown`` returns the id of the trace that the page shows at the time of a click; a click on another trace is
    ignored. ``part`` is the stack if the page has its own control for it. ``kept`` is called with the changes of a
    click after they are applied. ``key`` distinguishes two microscopes on a page. ``alone`` means that no other element
    of the page depends on the selection, so clicks need no script run. ``quiet`` draws only the maps: no sentence, no
    shaded words, no target and no list of links. ``asks_head`` leaves out the offer of the strongest head, which is the
    answer to a lesson's question.
    """
    look, notes = resolve_view(choice if part is None else replace(choice, part=part), trace)
    view = get_trace_store().view(trace, look)
    if not view.queries or not view.keys:
        show_notice(
            _("The text has only special tokens. Show them in View options."),
            role="status",
        )
        return None
    every = view.layers * view.heads * len(view.queries) * len(view.keys)
    with st.spinner(_("Drawing every head small")) if every > AT_ONCE else nullcontext():
        selection, more = select(choice, view, example_of(trace.text, trace.pair or ""))
        selection = directed_selection(selection, choice, view)
        if quiet and selection["facing"] == "out":
            selection["target"] = None
        survey = load_baselines(choice, view)[0]  # The grid request uses the positional prior loaded here.
    set_last_view(trace.model.name, trace.id, changes(selection, view))
    if part is None:
        pick_part(trace, look)
    for sentence in notes + more:
        show_notice(sentence, role="status")
    again = st.session_state.get(_remake_key(key), 0)
    query = f"{look.query()}&seal={trace_seal(trace.id)}&again={again}{in_language()}"
    data = explore.payload(view, survey, selection, f"{PREFIX}/{trace.id}", query)
    if quiet:
        data["quiet"] = True
    if asks_head:
        data["asks_head"] = True
    if alone and not (notes or more):
        data["slip"] = selection_token_for(trace.id, look)
    explore.mount(data, key, partial(_on_change, key, trace.id, shown, part, kept), partial(_fetch_again, key))
    return view, survey, selection


def _on_change(key: str, trace_id: str, shown: Callable[[], str], part: str | None, kept: ChangeHandler | None) -> None:
    """Apply the selection of a click to the choice and the address.

    Ignore a click on a trace that the page no longer shows, since its token indices do not fit the new text.
    """
    selection, trace = st.session_state[key].selection, get_trace_store().find(trace_id)
    if isinstance(selection, dict) and trace is not None and trace_id == shown():
        now = get_view_state() if part is None else replace(get_view_state(), part=part)
        found = changes(selection, get_trace_store().view(trace, resolve_view(now, trace)[0]))
        set_view_state(**found)
        if kept is not None:
            kept(found)


def _remake_key(key: str) -> str:
    """Return the session key of the number of times that the traces were computed again."""
    return f"{key}_again"


def _fetch_again(key: str) -> None:
    """Count a trace that the server had evicted, which changes the address of the next request."""
    st.session_state[_remake_key(key)] = st.session_state.get(_remake_key(key), 0) + 1
