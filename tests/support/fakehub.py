"""A fake Hugging Face hub on the loopback interface, with the HTTP behaviour that downloads need and its failures.

Repositories are plain dictionaries of file contents, so that each test shows the hub's contents.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = 100_000  # Bytes from which a file is stored with its SHA-256, as the real hub does from 10 MB.


@dataclass
class FakeHub:
    """Repositories by id, ids of gated repositories, and the requests: (method, path, Range header)."""

    repositories: dict[str, Mapping[str, bytes]] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    converted: dict[str, int] = field(default_factory=dict)  # Pull request of the robot, by repository.
    endpoint: str = ""
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    pause: float = 0.0  # Seconds between blocks of a large file.
    cut_after: int | None = None  # Bytes of a large file after which the connection is cut, a single time.
    silent_after: int | None = None  # Bytes of a large file after which the hub sends nothing but keeps the connection.
    status: int | None = None  # Status of every answer, for errors.
    rotten: bool = False  # True if large files arrive with a changed byte.
    lie: int = 0  # Bytes by which the announced size of large files exceeds their real size.

    def add(self, name: str, folder: Path) -> None:
        """Copy a folder's files into a repository."""
        self.repositories[name] = {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()}

    def ranges(self) -> list[str]:
        """Return the Range headers of the GET requests."""
        return [header for method, _, header in self.asked if method == "GET" and header]


def digest(content: bytes) -> str:
    """Return a file's ETag: SHA-256 for large files, git's blob hash for small files."""
    if len(content) >= LARGE:
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()


@contextmanager
def serving(**changes: Any) -> Iterator[FakeHub]:
    """Run a hub; ``endpoint`` is its address."""
    hub = FakeHub(**changes)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub))
    server.daemon_threads = True
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        with online():
            yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def online() -> Iterator[None]:
    """Let huggingface_hub send requests.

    The tests run with ``HF_HUB_OFFLINE``, which the library reads a single time, at its import.
    """
    from huggingface_hub import constants

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, False
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def _handler(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(body=True)

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

        def _answer(self, body: bool) -> None:
            path = self.path.split("?")[0]
            hub.asked.append((self.command, path, self.headers.get("Range")))
            if hub.status is not None:
                self._error(hub.status, None)
            elif match := re.fullmatch(r"/api/models/(.+)/discussions", path):
                self._json({"count": 0, "start": 0, "discussions": _conversions(hub.converted.get(match[1]))})
            elif match := re.fullmatch(r"/api/models/([^/]+(?:/[^/]+)?)(?:/revision/([^/]+))?", path):
                self._info(*match.groups())
            elif match := re.fullmatch(r"/([^/]+(?:/[^/]+)?)/resolve/([^/]+)/(.+)", path):
                name, revision, file = match.groups()
                self._file(name, revision, file, body)
            else:
                self._error(404, None)

        def _error(self, status: int, code: str | None) -> None:
            self.send_response(status)
            if code:
                self.send_header("X-Error-Code", code)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _known(self, name: str, revision: str | None) -> bool:
            if name not in hub.repositories:
                self._error(401, "RepoNotFound")  # The real hub does not reveal the names of private repositories.
                return False
            if revision not in (None, "main", COMMIT):
                self._error(404, "RevisionNotFound")
                return False
            return True

        def _info(self, name: str, revision: str | None) -> None:
            if not self._known(name, revision):
                return
            siblings = [_entry(file, content, hub.lie) for file, content in hub.repositories[name].items()]
            self._json({"id": name, "sha": COMMIT, "siblings": siblings, "pipeline_tag": "fill-mask", "tags": []})

        def _json(self, about: dict[str, Any]) -> None:
            content = json.dumps(about).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _file(self, name: str, revision: str, file: str, body: bool) -> None:
            if not self._known(name, revision):
                return
            if name in hub.gated:
                self._error(403, "GatedRepo")
                return
            content = hub.repositories[name].get(file)
            if content is None:
                self._error(404, "EntryNotFound")
                return
            start = int((self.headers.get("Range") or "bytes=0-")[6:].split("-")[0])
            self.send_response(206 if start else 200)
            self.send_header("ETag", f'"{digest(content)}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Content-Length", str(len(content) - start))
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.end_headers()
            if body:
                self._send(content, start)

        def _send(self, content: bytes, start: int) -> None:
            large = len(content) >= LARGE
            if large and hub.rotten:
                content = content[:-1] + bytes([content[-1] ^ 1])
            for at in range(start, len(content), 65536):
                if large and hub.cut_after is not None and at >= hub.cut_after:
                    hub.cut_after = None
                    self.close_connection = True
                    self.connection.close()
                    return
                if large and hub.silent_after is not None and at >= hub.silent_after:
                    self.rfile.read(1)  # This blocks until the client disconnects.
                    self.close_connection = True
                    return
                try:
                    self.wfile.write(content[at : at + 65536])
                    self.wfile.flush()
                except OSError:
                    return  # The client has closed the connection.
                time.sleep(hub.pause if large else 0)

    return Handler


def _entry(file: str, content: bytes, lie: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"rfilename": file, "size": len(content), "blobId": digest(content)}
    if len(content) >= LARGE:
        entry["blobId"] = "0" * 40
        entry["size"] += lie
        entry["lfs"] = {"sha256": digest(content), "size": entry["size"], "pointerSize": 134}
    return entry


def _conversions(number: int | None) -> list[dict[str, Any]]:
    """Return the robot's pull request after another author's pull request with the same title."""
    title = "Adding `safetensors` variant of this model"
    common = {"title": title, "status": "open", "isPullRequest": True, "createdAt": "2024-01-01T00:00:00.000Z"}
    common["repo"] = {"name": "someone/pickled", "type": "model"}
    authors = {1: "somebody", number: "SFconvertbot"} if number else {}
    return [{"num": num, "author": {"name": author}, **common} for num, author in authors.items()]
