"""Visitors are told apart by a random cookie, so that nobody finds another's taught models in their own list.

It says nothing of anybody: 16 random bytes, given with a page, sent back to this server alone, gone after 30 days.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections import OrderedDict
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from viz.components.base_path import BASE

NAME = "headlight_visitor"
VALUE = re.compile(r"[A-Za-z0-9_-]{22}")
DAYS = 30
MOST = 10_000  # newcomers that are remembered

_NEW: OrderedDict[str, None] = OrderedDict()  # cookies that were made here and not asked about since
_LOCK = threading.Lock()


def is_new(cookie: str) -> bool:
    """Whether who sends this cookie came for the first time, asked once; whoever sends none of ours is always new.

    Who brings a cookie of an earlier day is known by that, also after a restart of the server.
    """
    with _LOCK:
        return VALUE.fullmatch(str(cookie)) is None or _NEW.pop(cookie, "known") is None


class VisitorCookie:
    """Gives the cookie with every page, the same one again to who has one already."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A browser asks so for a page; the answer may be that the page it has kept is the newest.
        if scope["type"] != "http" or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return
        cookie = _cookie_header(cookie_of(Headers(scope=scope)), scope["scheme"] == "https")

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("Set-Cookie", cookie)
            await send(message)

        await self.app(scope, receive, with_cookie)


def cookie_of(headers: Headers) -> str:
    """The cookie that came with a question, if it is one of ours; else a new one."""
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(headers.get("cookie", ""))
    except CookieError:
        cookies.clear()
    value = cookies[NAME].value if NAME in cookies else ""
    return value if VALUE.fullmatch(value) else _new_cookie()


def _new_cookie() -> str:
    """A cookie for who has none; the oldest newcomers are forgotten beyond MOST."""
    value = secrets.token_urlsafe(16)
    with _LOCK:
        _NEW[value] = None
        while len(_NEW) > MOST:
            _NEW.popitem(last=False)
    return value


def _cookie_header(value: str, secure: bool) -> str:
    only = "; Secure" if secure else ""
    return f"{NAME}={value}; Max-Age={DAYS * 86_400}; Path={BASE or '/'}; HttpOnly; SameSite=Lax{only}"
