"""What is known of the network without asking anybody."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from inference import LocalBackend
from inference.settings import Settings
from ui.run import network


@pytest.fixture(autouse=True)
def a_way_out(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(network, "routed", lambda: True)
    monkeypatch.setattr(network, "backend", lambda: LocalBackend(Settings(offline=False)))
    network.failures.clear()
    yield
    network.failures.clear()


def test_the_hub_may_be_there_until_it_has_not_answered() -> None:
    assert network.hub_in_reach()
    network.failed()
    assert not network.hub_in_reach()
    network.failures[0] -= network.AGAIN
    assert network.hub_in_reach()


def test_without_a_way_out_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "routed", lambda: False)
    assert not network.hub_in_reach()


def test_where_the_operator_has_switched_it_off_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "backend", lambda: LocalBackend(Settings(offline=True)))
    assert not network.hub_in_reach()


def test_a_way_out_is_looked_up_and_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    asked: list[tuple[int, tuple[str, int]]] = []

    class Probe:
        def __init__(self, _family: int, kind: int) -> None:
            self.kind = kind

        def __enter__(self) -> Probe:
            return self

        def __exit__(self, *_error: object) -> None:
            return None

        def connect(self, address: tuple[str, int]) -> None:
            asked.append((self.kind, address))
            raise OSError("unreachable")

    monkeypatch.setattr(socket, "socket", Probe)
    assert not network.routed()
    assert asked == [(socket.SOCK_DGRAM, network.NOWHERE)]
