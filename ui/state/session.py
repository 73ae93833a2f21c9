"""The view state of a session (model, text, selection): read from the address and written back to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from attention.trace import Trace
from ui.run.services import get_backend
from ui.state import classroom, language
from ui.state.navigation import BY_VIEW, FIELD, view_at, view_fields
from ui.state.selection_token import Follow, SelectionToken
from ui.state.view_state import DECLARED, LONGEST_LINK, PACKED, ViewState, parse, to_query
from ui.streamlit_internals import session_id

CHOICE, WRITTEN, VIEW, NOTES = "choice", "written_query", "view", "link_notes"
SLIP = "slip"  # Session key of the selection token of the last run (ui/state/selection_token.py).
SAID = "notes_said"  # Session key of the notes shown in this run.
OPENED_PICTURE = "picture_trace_opened"  # Session key of a picture's trace from a file, for Image attention.
LENT = "lent"  # Session key of the temporary view.
OWN = "own_query"  # Session key of each view's own options in the address.
TYPING = "typing"  # Session key of the choice at the beginning of a burst of typing, whose texts have no address yet.
TYPED_FROM = "typed_from"  # Session key of that choice of the latest burst, also after its end.
FOLLOWED = "address_followed"  # Session key of the flag for `is_followed`.
NAMES_TEXT = "address_names_text"  # Session key of the flag for `is_text_followed`.
OLDER = "own_query_of_an_older_text"  # Session key of the views with options for another text or model.

SELECTIONS = "selections_by_model"  # Session key of the head, words and part selected for each text and model.
MOST_SELECTIONS = 20  # Maximum number of stored selections.

# A change of the model's part or the text resets these fields; the page then selects defaults.
UNSELECTED: dict[str, Any] = {"layer": None, "head": None, "focus": None, "to": None, "facing": "out", "pins": ""}
FRESH: dict[str, Any] = {**UNSELECTED, "opened": "", "cut": None}

NEW_MODEL: dict[str, Any] = {**FRESH, "part": "", "target": ""}


@dataclass(frozen=True)
class TemporaryView:
    """A view state that a view shows temporarily, and the visitor's own view state, which is restored later."""

    view: str
    own: ViewState
    shown: ViewState


def begin(path: str) -> ViewState:
    """Return the view state with which this run begins on the page at ``path``, and write the address.

    Streamlit clears the address when another page is opened, so the address is written again. A link that names only a
    view does not change the view state.
    """
    _pick_up()
    state, query = st.session_state, st.query_params.to_dict()
    view, before = view_at(path, query.get(FIELD)), state.get(VIEW)
    moved = before not in (None, view)
    state[VIEW], state[SAID] = view, set()
    state[FOLLOWED] = CHOICE not in state or not (query == state[WRITTEN] or (moved and set(query) <= {FIELD}))
    state[NAMES_TEXT] = state[FOLLOWED] and not {"text", PACKED}.isdisjoint(query)
    if state[FOLLOWED]:
        # The address differs from the last written address: a link or the browser's back button.
        query = classroom.take_address(language.take_address(query))
        query.pop(FIELD, None)
        followed, state[NOTES] = parse(query)
        _replace_state(followed)
        rest = {name: raw for name, raw in query.items() if name not in DECLARED and name != PACKED}
        state.setdefault(OWN, {})[view] = rest
        state.setdefault(OLDER, set()).discard(view)
    elif moved and LENT in state and state[LENT].view == before:
        restore_view_state()
    elif get_view_state() != (
        now := _with_saved_revision(get_view_state())
    ):  # Training has updated a fine-tuned model.
        _replace_state(now)
    if state[FOLLOWED]:
        state.pop(TYPING, None)
    if TYPING not in state:
        # A link to the page that is open changes the query of the server, but not the address in the browser.
        _write(send=bool(state[FOLLOWED]) and before in BY_VIEW and BY_VIEW[before] is BY_VIEW[view])
    return get_view_state()


def current_view() -> str:
    """Return the name of the view that is shown (ui/state/navigation.py)."""
    view: str = st.session_state[VIEW]
    return view


def open_view(view: str) -> None:
    """Open another view of the current page; the browser's back button returns to the view before it."""
    _pick_up()
    if LENT in st.session_state and st.session_state[LENT].view == current_view():
        restore_view_state()
    st.session_state[VIEW] = view
    _write()


def get_view_state() -> ViewState:
    """Return the current view state: model, texts, selection and options.

    It includes a selection that the browser stored without a script run.
    """
    slip: SelectionToken | None = st.session_state.get(SLIP)
    if slip is not None and slip.last_kept() is not None:
        _pick_up()
    choice: ViewState = st.session_state[CHOICE]
    return choice


def set_view_state(**changes: Any) -> None:
    """Change fields of the view state and update the address; the browser's back button undoes the change."""
    _pick_up()
    st.session_state.pop(TYPING, None)
    _replace_state(replace(get_view_state(), **changes))
    st.session_state[NOTES] = []
    _write()


def change_model(model: str, revision: str = "", **changes: Any) -> None:
    """Select a model; ``changes`` are further fields of the view state to change.

    A selection of head and words belongs to a model and its texts, because it contains positions of tokens. The model's
    last selection for these texts is restored.
    """
    before = get_view_state()
    if before.model == model:
        set_view_state(**{**FRESH, "revision": revision, **changes})
        return
    kept: dict[tuple[str, ...], dict[str, Any]] = st.session_state.setdefault(SELECTIONS, {})
    kept[before.model, before.text, before.pair] = {
        name: getattr(before, name) for name in ("part", "target", *UNSELECTED)
    }
    if len(kept) > MOST_SELECTIONS:
        del kept[next(iter(kept))]
    selection = kept.get((model, before.text, before.pair), {})
    set_view_state(**{**NEW_MODEL, **selection, **changes, "model": model, "revision": revision})


def show_while_typing(origin: ViewState, **changes: Any) -> None:
    """Change fields of the view state while the visitor types, without an entry in the browser's history.

    ``origin`` is the view state before the visitor began to type. After the typing, ``set_view_state`` adds the entry.
    """
    _pick_up()
    st.session_state[TYPING] = st.session_state[TYPED_FROM] = origin
    _replace_state(replace(get_view_state(), **changes))
    st.session_state[NOTES] = []


def typing_origin(*, continues: bool = False) -> ViewState | None:
    """Return the view state before the visitor began to type, or None if the visitor is not typing.

    With ``continues``, the visitor went on with a sentence after a pause, so typing began before the pause.
    """
    found: ViewState | None = st.session_state.get(TYPING, st.session_state.get(TYPED_FROM) if continues else None)
    return found


def is_followed() -> bool:
    """Return True if this run began with an address from a link or from the browser's history.

    Return False if this session wrote the address itself.
    """
    return bool(st.session_state.get(FOLLOWED))


def is_text_followed() -> bool:
    """Return True if this run began with an address from a link or from the browser's history that contains a text."""
    return bool(st.session_state.get(NAMES_TEXT))


def show_temporarily(choice: ViewState) -> None:
    """Show the view state ``choice`` while the page is open, then restore the visitor's own state.

    If the browser's back button leads to a temporary view, that view does not become the visitor's own.
    """
    lent: TemporaryView | None = st.session_state.get(LENT)
    same = lent is not None and (choice == get_view_state() or _texts(get_view_state()) == _texts(lent.shown))
    own = lent.own if lent is not None and same else get_view_state()
    st.session_state[LENT] = TemporaryView(current_view(), own, choice)
    if choice != get_view_state():
        set_view_state(**vars(choice))


def is_temporary() -> bool:
    """Return True if a temporary view is shown."""
    return LENT in st.session_state


def restore_view_state() -> None:
    """Restore the visitor's own view state after a temporary view, unless the visitor has entered another text."""
    lent: TemporaryView | None = st.session_state.pop(LENT, None)
    if lent is not None and _texts(get_view_state()) == _texts(lent.shown):
        set_view_state(**vars(lent.own))


def notes() -> list[str]:
    """Return the sentences to show about the address: parts that could not be read, and lost selections."""
    found: list[str] = st.session_state.get(NOTES, [])
    return found


def set_notes(sentences: list[str]) -> None:
    """Store sentences that are shown until the view state changes."""
    st.session_state[NOTES] = sentences


def unshown_notes() -> list[str]:
    """Return the notes that were added since the last call in this run."""
    said: set[str] = st.session_state.setdefault(SAID, set())
    new = [sentence for sentence in notes() if sentence not in said]
    said.update(new)
    return new


def change_language(code: str) -> None:
    """Set the language in the session and the address."""
    language.set_language(code)
    _write()


def change_class(code: str) -> None:
    """Set the class of students in the session and the address, in place of an earlier class."""
    classroom.enter(code)
    _write()


def own_query() -> dict[str, str]:
    """Return the query fields of the options that belong to the current page (see ui/state/params.py)."""
    found: dict[str, str] = st.session_state.setdefault(OWN, {}).get(current_view(), {})
    return found


def write_own(query: dict[str, str]) -> None:
    """Store the options that belong to the current page, given as query fields, and update the address.

    Options that exceed a link's length stay in the session only.
    """
    st.session_state[OWN][current_view()] = query
    st.session_state[NOTES] = []
    _write()


def page_query() -> dict[str, str]:
    """Return the query of a link to this view, without the page's own options if it would be too long."""
    return _page_query(own_query(), get_view_state())


def _page_query(own: dict[str, str], choice: ViewState) -> dict[str, str]:
    query = to_query(choice)
    if sum(len(name) + len(raw) for name, raw in (*query.items(), *own.items())) <= LONGEST_LINK:
        return {**own, **query}
    return query


def store_selection_token(follow: Follow, present: Callable[[dict[str, str]], bool] | None = None) -> str:
    """Store a new selection token and return its secret, which is valid until the next run of this session.

    ``follow`` converts a selection to the new view state. ``present`` is called with the query of each new view state.
    """
    mine = _session_fields()
    address = partial(_page_query, own_query())
    slip = SelectionToken(session_id() or "", get_view_state(), follow, address, mine, present)
    st.session_state[SLIP] = slip
    return slip.token


def _pick_up() -> None:
    """Close the selection token, and apply the choice and the address that it stored."""
    slip: SelectionToken | None = st.session_state.pop(SLIP, None)
    if slip is None:
        return
    slip.close()
    if (left := slip.last_kept()) is not None:
        st.session_state.update({**left.state, CHOICE: left.choice, WRITTEN: slip.query})


def of_older_text() -> bool:
    """Return True if this page's options were chosen for another text or model; a second call returns False."""
    older: set[str] = st.session_state.setdefault(OLDER, set())
    view = current_view()
    is_older = view in older
    older.discard(view)
    return is_older


def _replace_state(choice: ViewState) -> None:
    """Set the choice; if its text or model differs, mark the options of all pages as outdated."""
    state, choice = st.session_state, _with_saved_revision(choice)
    if CHOICE in state and _read(choice) != _read(state[CHOICE]):
        state[OLDER] = set(state.get(OWN, {}))
    state[CHOICE] = choice


def _with_saved_revision(choice: ViewState) -> ViewState:
    """Return the choice with the current revision of its model.

    Training may have updated a fine-tuned model.
    """
    revision = get_backend().revision_now(choice.model, choice.revision or None) or ""
    return choice if revision == choice.revision else replace(choice, revision=revision)


def _texts(choice: ViewState) -> tuple[str, ...]:
    """Return the texts that the visitor typed."""
    return choice.text, choice.pair, choice.target


def _read(choice: ViewState) -> tuple[str, ...]:
    """Return the fields that token positions depend on: the texts and the model with its tokenizer."""
    return choice.text, choice.pair, choice.target, choice.model, choice.revision


def _session_fields() -> dict[str, str]:
    """Return the fields of the address for the language, the class and the view."""
    return {**language.address_fields(), **classroom.address_fields(), **view_fields(current_view())}


def _write(*, send: bool = False) -> None:
    """Store the query of the address, and send it to the browser if it changed or if ``send`` is True."""
    query = {**_session_fields(), **page_query()}
    st.session_state[WRITTEN] = query
    if send or st.query_params.to_dict() != query:
        st.query_params.from_dict(query)


def open_picture(trace: Trace) -> None:
    """Store a trace of a picture, to be shown on the page Pictures."""
    st.session_state[OPENED_PICTURE] = trace


def opened_picture() -> Trace | None:
    """Return the trace of the picture that is open on the page Pictures, or None."""
    found: Trace | None = st.session_state.get(OPENED_PICTURE)
    return found


def close_picture() -> None:
    """Remove the opened picture's trace."""
    st.session_state.pop(OPENED_PICTURE, None)
