"""What a reader keeps in a picture between two runs of a session's script.

A picture that nothing else on its page follows gets a slip. The browser tells what is kept there by a small question of
its own (ui/routes/selection_tokens.py), no script runs, and the session finds it when it next runs for whatever
reason. A slip is good until then: who comes later is answered by a run, as is everything that a slip cannot hold.
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
    """A choice that was kept, and what the session's state holds with it."""

    choice: ViewState
    state: Mapping[str, Any] = field(default_factory=dict)


Follow = Callable[[ViewState, Any], KeptSelection | None]


class SelectionToken:
    """A session's slip. ``follow`` tells what a choice becomes by what the browser says, None where a run must;
    ``address`` how an address tells a choice, to which this session's own comes with ``mine``; ``present`` is told each
    choice's address, where a class follows, and whether it could be shown there.

    >>> told = lambda choice: {"layer": str(choice.layer)}
    >>> slip = SelectionToken("session", ViewState(), lambda now, said: KeptSelection(ViewState(layer=said)), told,
    ...     {"lang": "zh"})
    >>> slip.keep(3), slip.last_kept().choice.layer, slip.query
    (True, 3, {'lang': 'zh', 'layer': '3'})
    >>> slip.close()
    >>> slip.keep(4), slip.last_kept().choice.layer
    (False, 3)
    """

    def __init__(  # noqa: PLR0913  (what a slip knows of its session, each once)
        self,
        session: str,
        choice: ViewState,
        follow: Follow,
        address: Address,
        mine: Mapping[str, str],
        present: Callable[[dict[str, str]], bool] | None = None,
    ) -> None:
        self.session, self.token = session, secrets.token_urlsafe(16)
        self.query: dict[str, str] = {}  # the address of what is kept
        self.open = True
        self._choice, self._follow, self._address = choice, follow, address
        self._mine, self._present = dict(mine), present
        self._left: KeptSelection | None = None
        self._lock = threading.Lock()
        _SLIPS[self.token] = self

    def keep(self, said: Any) -> bool:
        """Whether what the browser says is kept; else a run is needed."""
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
        """What was kept last; None where nothing was."""
        return self._left

    def close(self) -> None:
        """From now on only runs tell."""
        with self._lock:
            self.open = False


_SLIPS: WeakValueDictionary[str, SelectionToken] = (
    WeakValueDictionary()
)  # a slip is gone with the session that holds it


def find_selection_token(token: str) -> SelectionToken | None:
    """The slip that only this token finds."""
    return _SLIPS.get(token)
