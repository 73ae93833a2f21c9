"""What a student's page asks while it waits."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from classroom.store import Store
from ui.routes import classes as routes
from ui.run import classes
from viz.components.base_path import BASE

TEACHER = "teacher's secret"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    made = Store(tmp_path / "rooms.sqlite")
    monkeypatch.setattr(classes, "_store", lambda _file: made)
    return made


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(routes=[*routes.routes()]))


def ask(client: TestClient, code: str, since: object) -> int:
    answer = client.get(f"{BASE}/headlight/class/{code}", params={"since": str(since)})
    assert answer.headers["cache-control"] == "no-store"
    return int(answer.json()["version"])


def test_what_is_new_is_told_at_once(client: TestClient, store: Store) -> None:
    code = store.open(TEACHER)
    assert ask(client, code, 0) == store.version(code) == 1


def test_a_question_waits_for_the_teacher(client: TestClient, store: Store) -> None:
    code = store.open(TEACHER)
    asked: list[int] = []
    waiting = threading.Thread(target=lambda: asked.append(ask(client, code, 1)))
    waiting.start()
    store.present(code, TEACHER, "/roles")
    waiting.join()
    assert asked == [2]


def test_without_news_it_ends_by_itself(client: TestClient, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "WAIT", 0.0)
    code = store.open(TEACHER)
    assert ask(client, code, 1) == 1


def test_a_room_that_is_not_there_holds_nobody(client: TestClient, store: Store) -> None:
    assert ask(client, "ABC234", 0) == 0
    code = store.open(TEACHER)
    store.close(code, TEACHER)
    assert ask(client, code, 3) == 0


@pytest.mark.parametrize(
    ("code", "since"),
    [("abc", "1"), ("ABC23L", "1"), ("ABC234", ""), ("ABC234", "-1"), ("ABC234", "٣"), ("ABC234", "9" * 20)],
)
def test_what_is_no_question_is_not_found(client: TestClient, store: Store, code: str, since: str) -> None:
    assert client.get(f"{BASE}/headlight/class/{code}", params={"since": since}).status_code == 404
    assert store.version("ABC234") == 0
