"""A plain server of static files, as the host of a static site."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_arguments: object) -> None:
        """Print nothing."""

    def handle_one_request(self) -> None:
        """Answer a request; a browser that leaves in the middle is no error."""
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True


@contextmanager
def host_folder(root: Path) -> Iterator[str]:
    """Serve a folder on this machine; return the address of the folder."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(root))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
