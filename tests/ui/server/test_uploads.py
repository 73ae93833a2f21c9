"""Memory limits of uploads per page and for all pages, with Streamlit's own route."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from httpx2 import Response
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient
from streamlit import config
from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.web.server.starlette.starlette_routes import create_upload_routes

from inference.settings import Settings
from ui.server import uploads
from ui.server.uploads import UploadLimit

ONE, ALL = 1_000_000, 1_500_000


class Server:
    """An app with Streamlit's upload route and a file manager in memory."""

    def __init__(self) -> None:
        self.open = {"ann", "bob"}  # These are open sessions.
        self.files = MemoryUploadedFileManager("/_stcore/upload_file")
        self.runtime = SimpleNamespace(is_active_session=self.open.__contains__, uploaded_file_mgr=self.files)
        settings = Settings(visitor_upload_bytes=ONE, upload_bytes=ALL)
        routes = create_upload_routes(self.runtime, self.files, "")  # type: ignore[arg-type]
        self.client = TestClient(Starlette(routes=routes, middleware=[Middleware(UploadLimit, settings=settings)]))

    def put(self, session: str, file: str, size: int) -> Response:
        sent = {"file": (file, b"x" * size)}
        return self.client.put(f"/_stcore/upload_file/{session}/{file}", files=sent)

    def held(self, session: str) -> int:
        return sum(len(file.data) for file in self.files.file_storage.get(session, {}).values())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    made = Server()
    monkeypatch.setattr(Runtime, "_instance", made.runtime)
    before: Callable[[str], object] = config.get_option
    monkeypatch.setattr(config, "get_option", lambda name: name != "server.enableXsrfProtection" and before(name))
    return made


def test_one_page_s_files_have_a_bound_under_whatever_ids(server: Server) -> None:
    assert [server.put("ann", f"invented-{at}", 400_000).status_code for at in range(4)] == [204, 204, 413, 413]
    assert server.held("ann") == 800_000
    assert "takes 1 MB at most" in server.put("ann", "more", 400_000).text
    assert server.put("ann", "small", 100_000).status_code == 204


def test_all_pages_files_have_a_bound(server: Server) -> None:
    assert server.put("ann", "a", 900_000).status_code == 204
    answer = server.put("bob", "b", 900_000)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
    server.files.remove_session_files("ann")  # Streamlit removes the files of a closed page.
    assert server.put("bob", "b", 900_000).status_code == 204


def test_many_empty_files_are_not_free(server: Server) -> None:
    assert [server.put("ann", f"{at}", 0).status_code for at in range(11)] == [204] * 10 + [413]


def test_what_is_refused_leaves_no_room_taken(server: Server) -> None:
    for _ in range(3):
        assert server.put("ann", "a", 2_000_000).status_code == 413
        assert server.put("nobody", "a", 300_000).status_code == 400  # Streamlit refuses unknown sessions.
    assert server.put("ann", "a", 900_000).status_code == 204


def test_who_leaves_while_a_file_comes_leaves_nothing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    put = server.files.add_file

    def left(session_id: str, file: object) -> None:
        server.open.remove(session_id)
        server.files.remove_session_files(session_id)
        put(session_id, file)  # type: ignore[arg-type]

    monkeypatch.setattr(server.files, "add_file", left)
    server.put("ann", "a", 500_000)
    assert server.held("ann") == 0


def test_a_file_of_unknown_length_is_not_taken(server: Server) -> None:
    answer = server.client.put("/_stcore/upload_file/ann/a", content=iter([b"x"]))
    assert (answer.status_code, answer.text) == (411, uploads.NO_LENGTH)


def test_everything_else_passes(server: Server) -> None:
    assert server.client.request("DELETE", "/_stcore/upload_file/ann/a").status_code == 204
    assert server.client.get("/").status_code == 404
