"""Selection tokens of the microscope, which store a click without a run of the page (ui/state/selection_token.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ui.classroom import view_presenter
from ui.routes.selection_tokens import ADDRESS
from ui.run.services import ViewOptions, get_trace_store
from ui.state.examples import example_of
from ui.state.selection import changes, directed_selection, last_view_entries, select
from ui.state.selection_token import KeptSelection
from ui.state.session import get_view_state, notes, store_selection_token
from ui.state.view_state import PINNED, ViewState, fits
from viz.components.explore.content import CHOICES

FIELDS = {"layer", "head", "focus", "target", "pinned", *CHOICES}


def selection_token_for(trace_id: str, look: ViewOptions, offered: tuple[int, int] | None) -> dict[str, str] | None:
    """Return the address and the secret of a new selection token, or None if each click needs a run.

    Clicks need a run if the page shows notes, which a click removes, or if the text does not fit into an address.
    ``offered`` is the head of the page's button that resets the selection; the button's visibility depends on the
    selection.
    """
    if notes() or not fits(get_view_state()):
        return None
    return {
        "address": ADDRESS,
        "token": store_selection_token(partial(apply_selection, trace_id, look, offered), view_presenter()),
    }


def apply_selection(
    trace_id: str, look: ViewOptions, offered: tuple[int, int] | None, choice: ViewState, said: Any
) -> KeptSelection | None:
    """Return the choice after a selection, or None if only a run can show its result."""
    trace = get_trace_store().find(trace_id)
    if trace is None or not well_formed(said):
        return None
    view = get_trace_store().view(trace, look)
    now = replace(choice, **changes(said, view))
    shown, problems = select(now, view, example_of(trace.text, trace.pair or ""))
    shown = directed_selection(shown, now, view)
    if problems or any(shown[name] != said[name] for name in FIELDS) or not fits(now):
        return None
    if offered is not None and offered in ((choice.layer, choice.head), (now.layer, now.head)):
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
        and all(isinstance(said[name], str) for name in CHOICES)
        and isinstance(pins, list)
        and len(pins) <= PINNED
        and all(isinstance(pin, list) and [type(part) for part in pin] == [int, int] for pin in pins)
    )
