"""Selection tokens: secrets with which a figure stores a selection without running the page's script.

A figure has a selection token if no other element of its page depends on its selection. The browser sends a selection
with the token to ui/routes/selection_tokens.py. The session's next run applies the selection and closes the token. Any
later selection, and any selection that a token cannot store, starts a run.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from ui.state.view_state import ViewState

Address = Callable[[ViewState], dict[str, str]]


@dataclass(frozen=True)
class KeptSelection:
    """A stored selection: the new view state, and the session-state entries that belong to it."""

    choice: ViewState
    state: Mapping[str, Any] = field(default_factory=dict)


Follow = Callable[[ViewState, Any], KeptSelection | None]


class SelectionToken:
    """A secret with which the browser stores the selection in a figure without a run of the script.

    ``follow`` is a function of the view state and the browser's selection. It returns the new view state, or None if a
    run of the script is needed. ``address`` returns the URL parameters of a view state. ``mine`` are the session's own
    URL parameters, such as the language. ``present`` sends URL parameters to the students who follow this session, and
    returns False if it cannot.

    >>> told = lambda choice: {"layer": str(choice.layer)}
    >>> slip = SelectionToken("session", ViewState(), lambda now, said: KeptSelection(ViewState(layer=said)), told,
    ...     {"lang": "zh"})
    >>> slip.keep(3), slip.last_kept().choice.layer, slip.query
    (True, 3, {'lang': 'zh', 'layer': '3'})
    >>> slip.close()
    >>> slip.keep(4), slip.last_kept().choice.layer
    (False, 3)
    """

    def __init__(  # noqa: PLR0913  (independent values of a session)
        self,
        session: str,
        choice: ViewState,
        follow: Follow,
        address: Address,
        mine: Mapping[str, str],
        present: Callable[[dict[str, str]], bool] | None = None,
    ) -> None:
        self.session, self.token = session, secrets.token_urlsafe(16)
        self.query: dict[str, str] = {}  # Query of the stored selection.
        self.open = True
        self._choice, self._follow, self._address = choice, follow, address
        self._mine, self._present = dict(mine), present
        self._left: KeptSelection | None = None
        self._lock = threading.Lock()
        _SLIPS[self.token] = self

    def keep(self, said: Any) -> bool:
        """Store a selection that the browser sent and return True; return False if a run must apply it."""
        with self._lock:
            found = self._follow(self._choice, said) if self.open else None
            if found is None:
                return False
            query = self._address(found.choice)
            if self._present is not None and not self._present(query):
                return False
            self._choice, self._left, self.query = found.choice, found, {**self._mine, **query}
            return True

    def last_kept(self) -> KeptSelection | None:
        """Return the last stored selection, or None if there is none."""
        return self._left

    def close(self) -> None:
        """Reject all further selections, so that each of them starts a run."""
        with self._lock:
            self.open = False


_SLIPS: WeakValueDictionary[str, SelectionToken] = (
    WeakValueDictionary()
)  # Only the session holds a reference to its token.


def find_selection_token(token: str) -> SelectionToken | None:
    """Return the selection token with this secret, or None."""
    return _SLIPS.get(token)
