"""Values that belong to a visitor, identified by the cookie, and that survive a reload of the page."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

import streamlit as st

from ui.server.middleware import NAME, VALUE

T = TypeVar("T")


class VisitorValues(Generic[T]):
    """A value for each visitor, in memory until the app ends; thread-safe.

    Beyond ``most`` values, the oldest are dropped. For a visitor without a valid cookie, no value is stored.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self) -> T | None:
        """Return the visitor's value, or None."""
        with self._lock:
            return self._values.get(cookie())

    def put(self, value: T) -> None:
        """Store the visitor's value in place of an earlier value."""
        name = cookie()
        if VALUE.fullmatch(name) is None:
            return
        with self._lock:
            self._values[name] = value
            self._values.move_to_end(name)
            while len(self._values) > self._most:
                self._values.popitem(last=False)

    def delete(self) -> None:
        """Delete the visitor's value, if any."""
        with self._lock:
            self._values.pop(cookie(), None)


def cookie() -> str:
    """Return the visitor's cookie, or "" outside a browser."""
    return str(st.context.cookies.get(NAME, ""))
