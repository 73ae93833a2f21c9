"""Memory limits for uploaded files, per open page and for the whole server; Streamlit limits only single files.

Streamlit keeps a file in memory as long as its page is open, even if the page does not use the file. The limits
therefore count the files in memory and the files that are being received.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from inference.settings import Settings
from ui.routes.limits import AGAIN
from ui.streamlit_internals import UPLOADS, UploadedFileRec, has_left, uploaded_files

LEAST = 100_000  # Minimum number of bytes counted for each file, since a million empty files take memory too.
NO_LENGTH = "A file of unknown length was sent; say its length (Content-Length) and send it again."
TOO_MUCH = "What this page has uploaded takes {most:,.0f} MB at most. Reload the page, which lets go of its files."
CROWDED = "All visitors' files together take as much as this server has for them. Try again later."


class UploadLimit:
    """Middleware that rejects uploads beyond the memory limits.

    The status is 413 beyond a page's limit, 503 beyond the server's limit, and 411 without a Content-Length.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self._lock = threading.Lock()
        self._coming: Counter[str] = Counter()  # Bytes that are being received, by session.

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        place = scope["path"].partition(UPLOADS)[2] if scope["type"] == "http" and scope["method"] == "PUT" else ""
        session, _slash, file = place.partition("/")
        if not file:
            await self.app(scope, receive, send)
            return
        stated = Headers(scope=scope).get("content-length", "")
        if not (stated.isascii() and stated.isdigit()):
            await PlainTextResponse(NO_LENGTH, 411)(scope, receive, send)
            return
        with self._room(session, max(int(stated), LEAST)) as refused:
            if refused is not None:
                await refused(scope, receive, send)
                return
            try:
                await self.app(scope, receive, send)
            finally:  # Remove the file of a session that ended during the upload.
                if has_left(session):
                    uploaded_files().remove_file(session, file)

    @contextmanager
    def _room(self, session: str, size: int) -> Iterator[Response | None]:
        """Reserve ``size`` bytes for a session during the block; yield None, or the error response."""
        with self._lock:
            held = {name: _size(list(files.values())) for name, files in list(uploaded_files().file_storage.items())}
            own = held.get(session, 0) + self._coming[session]
            every = sum(held.values()) + self._coming.total()
            most = self.settings.visitor_upload_bytes
            refused: Response | None = None
            if own + size > most:
                refused = PlainTextResponse(TOO_MUCH.format(most=most / 1e6), 413)
            elif every + size > self.settings.upload_bytes:
                refused = PlainTextResponse(CROWDED, 503, headers={"Retry-After": AGAIN})
            else:
                self._coming[session] += size
        try:
            yield refused
        finally:
            if refused is None:
                with self._lock:
                    self._coming[session] -= size
                    self._coming += Counter()  # Drop the sessions with a count of zero.


def _size(files: list[UploadedFileRec]) -> int:
    return sum(max(len(file.data), LEAST) for file in files)
