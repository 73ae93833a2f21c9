"""Security headers on every answer: nothing from other hosts, no inline script, no frame around the app.

A page, a picture or a script of another site gets nothing of ours either, and nobody is asked for a camera."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


def inline_scripts() -> str:
    """The hashes by which a policy allows the scripts written into Streamlit's own page, as installed."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)


POLICY = (
    f"default-src 'self'; script-src 'self' blob: {inline_scripts()}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; frame-src 'self'; frame-ancestors 'self'; "
    "object-src 'none'; base-uri 'self'; form-action 'self'"
)
UNUSED = (
    *("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "hid", "magnetometer", "microphone"),
    *("midi", "payment", "serial", "usb", "xr-spatial-tracking"),
)  # what a browser would ask the visitor for, and no page here has a use for
KEPT_APART = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",  # a page that opened this one cannot reach into its window
    "Permissions-Policy": ", ".join(f"{name}=()" for name in UNUSED),
}


class SecurityHeaders:
    """Adds the headers to answers that do not bring their own policy (a BertViz page brings a stricter one)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", POLICY)
                # No other site's page may hold an answer of ours as its picture or script.
                headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
                headers.update(KEPT_APART)
            await send(message)

        await self.app(scope, receive, with_headers)
