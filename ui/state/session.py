"""A session's choice: read from the address, changed by controls, written back to the address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.run.services import get_backend
from ui.state import classroom, language
from ui.state.selection_token import Follow, SelectionToken
from ui.state.view_state import LONGEST_LINK, PACKED, TYPES, ViewState, parse, to_query

CHOICE, WRITTEN, PAGE, NOTES = "choice", "written_query", "page", "link_notes"
SLIP = "slip"  # of the picture that the last run drew (ui/state/selection_token.py)
SAID = "notes_said"  # in this run
LENT = "lent"  # what a page shows instead of the reader's choice
OWN = "own_query"  # by page: what its address holds beside the choice
FOLLOWED = "address_followed"  # whether this run began with an address that the app did not write
OLDER = "own_query_of_an_older_text"  # pages whose part of the address was chosen for another text or model

# What belongs to one part of a model on one text; a change of either makes the page choose anew from the numbers.
UNSELECTED: dict[str, Any] = {"layer": None, "head": None, "focus": None, "to": None, "facing": "out", "pins": ""}
FRESH: dict[str, Any] = {**UNSELECTED, "opened": "", "cut": None}

NEW_MODEL: dict[str, Any] = {**FRESH, "part": "", "target": ""}


@dataclass(frozen=True)
class TemporaryView:
    """A page shows a choice of its own, and the reader's is kept meanwhile."""

    page: str
    own: ViewState
    shown: ViewState


def begin(page: str) -> ViewState:
    """The choice of this run. Streamlit clears the address when another page is opened; then it is written anew."""
    _pick_up()
    state, query = st.session_state, st.query_params.to_dict()
    before = state.get(PAGE)
    moved = before not in (None, page)
    state[PAGE], state[SAID] = page, set()
    state[FOLLOWED] = CHOICE not in state or not (query == state[WRITTEN] or (moved and not query))
    if state[FOLLOWED]:
        # Another address than the one written last: a link was followed, or the browser's back button pressed.
        query = classroom.take_address(language.take_address(query))
        followed, state[NOTES] = parse(query)
        _replace_state(followed)
        rest = {name: raw for name, raw in query.items() if name not in TYPES and name != PACKED}
        state.setdefault(OWN, {})[page] = rest
        state.setdefault(OLDER, set()).discard(page)
    elif moved and LENT in state and state[LENT].page == before:
        restore_view_state()
    elif get_view_state() != (
        now := _with_saved_revision(get_view_state())
    ):  # a taught model has gone on learning since
        _replace_state(now)
    _write()
    return get_view_state()


def get_view_state() -> ViewState:
    """The choice as it stands."""
    slip: SelectionToken | None = st.session_state.get(SLIP)
    if slip is not None and slip.last_kept() is not None:
        _pick_up()
    choice: ViewState = st.session_state[CHOICE]
    return choice


def set_view_state(**changes: Any) -> None:
    """Change some of it; the address follows, so that the browser's back button undoes it."""
    _pick_up()
    _replace_state(replace(get_view_state(), **changes))
    st.session_state[NOTES] = []
    _write()


def is_followed() -> bool:
    """Return whether this run began with an address that the app did not write: a link, or a step in the history."""
    return bool(st.session_state.get(FOLLOWED))


def show_temporarily(choice: ViewState) -> None:
    """Show this for as long as the page is open. What the reader chose or typed is kept, and comes back afterwards.

    An address that was lent before, to which the browser's back button leads, is not the reader's own.
    """
    lent: TemporaryView | None = st.session_state.get(LENT)
    same = lent is not None and (choice == get_view_state() or _texts(get_view_state()) == _texts(lent.shown))
    own = lent.own if lent is not None and same else get_view_state()
    st.session_state[LENT] = TemporaryView(st.session_state[PAGE], own, choice)
    if choice != get_view_state():
        set_view_state(**vars(choice))


def is_temporary() -> bool:
    """Whether the reader's own choice is kept for later."""
    return LENT in st.session_state


def restore_view_state() -> None:
    """The reader's own choice again, unless the reader has typed something else since."""
    lent: TemporaryView | None = st.session_state.pop(LENT, None)
    if lent is not None and _texts(get_view_state()) == _texts(lent.shown):
        set_view_state(**vars(lent.own))


def notes() -> list[str]:
    """What of the address could not be read, or of a view did not stay, a sentence each."""
    found: list[str] = st.session_state.get(NOTES, [])
    return found


def set_notes(sentences: list[str]) -> None:
    """Say these until something else is chosen."""
    st.session_state[NOTES] = sentences


def unshown_notes() -> list[str]:
    """Those that were not handed out yet in this run: a page may find what it cannot read at any time."""
    said: set[str] = st.session_state.setdefault(SAID, set())
    new = [sentence for sentence in notes() if sentence not in said]
    said.update(new)
    return new


def change_language(code: str) -> None:
    """From now on this language, also in the address."""
    language.set_language(code)
    _write()


def own_query() -> dict[str, str]:
    """What this page's address holds beside the choice, as text: its own options (ui/state/params.py)."""
    found: dict[str, str] = st.session_state.setdefault(OWN, {}).get(st.session_state[PAGE], {})
    return found


def write_own(query: dict[str, str]) -> None:
    """Put this page's own options into the address; what does not fit into a link stays in the session only."""
    st.session_state[OWN][st.session_state[PAGE]] = query
    st.session_state[NOTES] = []
    _write()


def page_query() -> dict[str, str]:
    """What this page shows, as an address has it; without the page's own part where a link cannot hold both."""
    return _page_query(own_query(), get_view_state())


def _page_query(own: dict[str, str], choice: ViewState) -> dict[str, str]:
    query = to_query(choice)
    if sum(len(name) + len(raw) for name, raw in (*query.items(), *own.items())) <= LONGEST_LINK:
        return {**own, **query}
    return query


def store_selection_token(follow: Follow, present: Callable[[dict[str, str]], bool] | None = None) -> str:
    """What the browser must name to keep what ``follow`` understands without a run, until this session runs again.

    ``present`` is told the address of each choice that is kept, as others may open it.
    """
    run, mine = get_script_run_ctx(), {**language.address_fields(), **classroom.address_fields()}
    address = partial(_page_query, own_query())
    slip = SelectionToken("" if run is None else run.session_id, get_view_state(), follow, address, mine, present)
    st.session_state[SLIP] = slip
    return slip.token


def _pick_up() -> None:
    """What was kept without a run is the choice now, and its address is the one that the browser shows."""
    slip: SelectionToken | None = st.session_state.pop(SLIP, None)
    if slip is None:
        return
    slip.close()
    if (left := slip.last_kept()) is not None:
        st.session_state.update({**left.state, CHOICE: left.choice, WRITTEN: slip.query})


def of_older_text() -> bool:
    """Whether another text or model was chosen since this page's own options were; told once, to who forgets them."""
    older: set[str] = st.session_state.setdefault(OLDER, set())
    page = st.session_state[PAGE]
    told = page in older
    older.discard(page)
    return told


def _replace_state(choice: ViewState) -> None:
    """Make it the choice; where it reads another text, what pages hold was chosen for an older one."""
    state, choice = st.session_state, _with_saved_revision(choice)
    if CHOICE in state and _read(choice) != _read(state[CHOICE]):
        state[OLDER] = set(state.get(OWN, {}))
    state[CHOICE] = choice


def _with_saved_revision(choice: ViewState) -> ViewState:
    """The same; a taught model, which may go on learning, as it is saved now."""
    revision = get_backend().revision_now(choice.model, choice.revision or None) or ""
    return choice if revision == choice.revision else replace(choice, revision=revision)


def _texts(choice: ViewState) -> tuple[str, ...]:
    """What a reader types."""
    return choice.text, choice.pair, choice.target


def _read(choice: ViewState) -> tuple[str, ...]:
    """What places in a text depend on: the text, and who cuts it into tokens."""
    return choice.text, choice.pair, choice.target, choice.model, choice.revision


def _write() -> None:
    query = {**language.address_fields(), **classroom.address_fields(), **page_query()}
    st.session_state[WRITTEN] = query
    if st.query_params.to_dict() != query:
        st.query_params.from_dict(query)
