"""Network state without requests: access to the hub, and the addresses of the app."""

from __future__ import annotations

import socket
from collections import namedtuple
from collections.abc import Iterator

import psutil
import pytest

from inference import LocalBackend
from inference.settings import Settings
from ui.run import network


@pytest.fixture(autouse=True)
def a_way_out(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(network, "has_route", lambda: True)
    monkeypatch.setattr(network, "get_backend", lambda: LocalBackend(Settings(offline=False)))
    network.failures.clear()
    yield
    network.failures.clear()


def test_the_hub_may_be_there_until_it_has_not_answered() -> None:
    assert network.hub_in_reach()
    network.note_hub_failure()
    assert not network.hub_in_reach()
    network.failures[0] -= network.AGAIN
    assert network.hub_in_reach()


def test_without_a_way_out_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "has_route", lambda: False)
    assert not network.hub_in_reach()


def test_where_the_operator_has_switched_it_off_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "get_backend", lambda: LocalBackend(Settings(offline=True)))
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
    assert not network.has_route()
    assert asked == [(socket.SOCK_DGRAM, network.NOWHERE)]


Address = namedtuple("Address", "family address")
State = namedtuple("State", "isup")


def listening(monkeypatch: pytest.MonkeyPatch, address: str | None, whom: str = "") -> None:
    """Simulate a server at this address that is started for these visitors."""
    monkeypatch.setattr("streamlit.get_option", lambda name: address if name == "server.address" else None)
    monkeypatch.setattr(network, "get_backend", lambda: LocalBackend(Settings.from_env({"HEADLIGHT_FOR": whom})))


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_a_server_at_the_loopback_is_not_open(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listening(monkeypatch, address, "class")
    assert not network.is_open()
    assert network.network_addresses() == ()


@pytest.mark.parametrize("address", [None, "", "0.0.0.0", "::", "192.0.2.7"])
def test_a_server_in_the_network_is_open_unless_for_a_laptop(
    address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for whom in ("", "class", "public"):
        listening(monkeypatch, address, whom)
        assert network.is_open()
    listening(monkeypatch, address, "laptop")
    assert not network.is_open()


def test_a_proxy_that_the_operator_names_opens_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    listening(monkeypatch, "127.0.0.1")
    assert network.is_open({network.HOSTS: "attention.example"})
    listening(monkeypatch, "127.0.0.1", "laptop")
    assert not network.is_open({network.HOSTS: "attention.example"})


def test_the_addresses_are_those_that_others_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    cards = {
        "lo": [Address(socket.AF_INET, "127.0.0.1")],
        "eth0": [Address(socket.AF_INET, "10.0.0.7"), Address(socket.AF_INET6, "fd00::2")],
        "eth1": [Address(socket.AF_INET, "169.254.3.4")],  # This is a link-local address.
        "wlan0": [Address(socket.AF_INET, "192.168.1.5")],
        "down0": [Address(socket.AF_INET, "10.9.9.9")],
    }
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: cards)
    monkeypatch.setattr(psutil, "net_if_stats", lambda: {name: State(name != "down0") for name in cards})
    monkeypatch.setattr(network, "_own_address", lambda: "192.168.1.5")
    listening(monkeypatch, "0.0.0.0")
    assert network.network_addresses() == ("192.168.1.5", "10.0.0.7")
    monkeypatch.setattr(network, "_own_address", lambda: None)
    assert network.network_addresses() == ("10.0.0.7", "192.168.1.5")
    listening(monkeypatch, "10.0.0.7")
    assert network.network_addresses() == ("10.0.0.7",)


def test_a_shared_origin_is_never_a_loopback_address(monkeypatch: pytest.MonkeyPatch) -> None:
    listening(monkeypatch, "10.0.0.7")
    assert network.shared_origins("http://127.0.0.1:8501/lessons") == ["http://10.0.0.7:8501"]
    assert network.shared_origins("https://class.example/lessons") == ["https://class.example"]
    listening(monkeypatch, "127.0.0.1")
    assert network.shared_origins("http://127.0.0.1:8501/lessons") == []


def test_the_operator_s_names_come_instead_of_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    listening(monkeypatch, "10.0.0.7")
    assert network.reached_by({}) == ("10.0.0.7",)
    assert network.reached_by({network.HOSTS: " attention.example, other.example:8443 ,"}) == (
        "attention.example",
        "other.example:8443",
    )
