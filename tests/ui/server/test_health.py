"""Liveness and readiness endpoints."""

from __future__ import annotations

import threading

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from inference import UserError
from ui.run.services import get_backend
from ui.server import metrics, warm_up
from ui.server.middleware import Guard


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """Return a client for health checks from inside a container, by the loopback name."""
    failed = threading.Event()
    for module in (metrics, warm_up):
        monkeypatch.setattr(module, "FAILED", failed)
    monkeypatch.setattr(warm_up, "HEAD_START", 0)
    monkeypatch.setattr(warm_up, "DRAWING", 0)
    monkeypatch.setattr(get_backend(), "status", lambda _model: "cold")  # Other tests may have loaded the model.
    app = Starlette(routes=metrics.health_routes(), middleware=[Middleware(Guard, hosts=("attention.example",))])
    return TestClient(app, base_url="http://127.0.0.1:8501")


@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost:8501", "[::1]:8501"])
def test_a_health_check_inside_a_container_is_answered(client: TestClient, host: str) -> None:
    for path in ("/healthz/live", "/healthz/ready"):
        assert client.get(path, headers={"host": host}).status_code == 200


def fails(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the warm-up with a backend that raises ``error``."""

    def prepare(_model: str) -> None:
        raise error

    monkeypatch.setattr(get_backend(), "prepare", prepare)
    warm_up.warm_up()


def test_a_model_that_could_not_be_loaded_makes_it_unready_until_it_is(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails(UserError("The file is broken."), monkeypatch)
    answer = client.get("/healthz/ready")
    assert answer.status_code == 503
    assert client.get("/healthz/live").status_code == 200
    monkeypatch.setattr(get_backend(), "status", lambda _model: "loaded")
    assert client.get("/healthz/ready").status_code == 200


def test_a_fault_of_ours_is_none_of_the_model_s_and_as_bad(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError, match="no torch"):
        fails(OSError("no torch"), monkeypatch)
    assert client.get("/healthz/ready").status_code == 503
