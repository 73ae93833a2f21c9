"""Long polling by a student's page."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from classroom.store import Store
from tests.support.cases import loop_over
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


def test_a_change_by_another_process_is_noticed(client: TestClient, store: Store, tmp_path: Path) -> None:
    """A second store on the same file simulates another server process."""
    other = Store(tmp_path / "rooms.sqlite")
    code = store.open(TEACHER)
    asked: list[int] = []
    waiting = threading.Thread(target=lambda: asked.append(ask(client, code, 1)))
    waiting.start()
    other.present(code, TEACHER, "/roles")
    waiting.join()
    assert asked == [2]


def test_thirty_who_wait_look_as_often_as_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each client reads the store once on arrival; afterwards a single poll serves all clients."""
    code, looks = store.open(TEACHER), 0

    async def counted(_seconds: float) -> None:
        nonlocal looks
        looks += 1
        if looks == 5:
            store.present(code, TEACHER, "/roles")
        await pause(0)

    pause = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", counted)
    watch = routes.ClassWatcher()

    async def everybody() -> list[int]:
        return await asyncio.gather(*(watch.wait_for_version(code, 1, 1e9) for _ in range(30)))

    monkeypatch.setattr(routes, "WAIT", 1e9)
    assert asyncio.run(everybody()) == [2] * 30
    assert looks == 5


def test_who_goes_away_takes_nobody_s_look_along(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "WAIT", 1e9)
    code, watch = store.open(TEACHER), routes.ClassWatcher()

    async def two() -> int:
        gone, stays = (asyncio.create_task(watch.wait_for_version(code, 1, 1e9)) for _ in range(2))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        store.present(code, TEACHER, "/roles")
        return await stays

    assert asyncio.run(two()) == 2


def test_without_news_it_ends_by_itself(client: TestClient, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "WAIT", 0.0)
    code = store.open(TEACHER)
    assert ask(client, code, 1) == 1


def test_a_room_that_is_not_there_holds_nobody(client: TestClient, store: Store) -> None:
    assert ask(client, "ABC234", 0) == 0
    code = store.open(TEACHER)
    store.close(code, TEACHER)
    assert ask(client, code, 3) == 0


@loop_over(
    ("code", "since"),
    [("abc", "1"), ("ABC23L", "1"), ("ABC234", ""), ("ABC234", "-1"), ("ABC234", "٣"), ("ABC234", "9" * 20)],
)
def test_what_is_no_question_is_not_found(client: TestClient, store: Store, code: str, since: str) -> None:
    assert client.get(f"{BASE}/headlight/class/{code}", params={"since": since}).status_code == 404
    assert store.version("ABC234") == 0
