"""A random cookie that identifies a visitor, so that fine-tuned models are listed only for their owner.

The cookie holds 16 random bytes and no personal data; it expires after 30 days.
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
MOST = 10_000  # Maximum number of new cookies kept in memory.

_NEW: OrderedDict[str, None] = OrderedDict()  # Cookies that this process has issued and that `is_new` has not seen.
_LOCK = threading.Lock()


def is_new(cookie: str) -> bool:
    """Return True on the first call for a cookie of this process, and always for an invalid cookie.

    A valid cookie from before a restart of the server is not new.
    """
    with _LOCK:
        return VALUE.fullmatch(str(cookie)) is None or _NEW.pop(cookie, "known") is None


class VisitorCookie:
    """Middleware that sets the visitor cookie with every page, and renews a valid cookie."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Browsers request pages with this header; the response may be 304 (not modified).
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
    """Return the visitor cookie of a request if it is valid; else return a new cookie."""
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(headers.get("cookie", ""))
    except CookieError:
        cookies.clear()
    value = cookies[NAME].value if NAME in cookies else ""
    return value if VALUE.fullmatch(value) else _new_cookie()


def _new_cookie() -> str:
    """Return a new cookie and remember it as new; drop the oldest beyond MOST."""
    value = secrets.token_urlsafe(16)
    with _LOCK:
        _NEW[value] = None
        while len(_NEW) > MOST:
            _NEW.popitem(last=False)
    return value


def _cookie_header(value: str, secure: bool) -> str:
    only = "; Secure" if secure else ""
    return f"{NAME}={value}; Max-Age={DAYS * 86_400}; Path={BASE or '/'}; HttpOnly; SameSite=Lax{only}"
