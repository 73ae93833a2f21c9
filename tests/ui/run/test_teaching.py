"""Who sees which taught models: one's own, and those whose link one has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inference.files import taught
from tests.support.trainings import kept, of
from training.jobs.job import OWNER, Job, Status, set_status, write
from ui.run import shelf, teaching
from ui.server.visitor import NAME

OURS = "AbCdEfGhIjKlMnOpQrSt-_"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HEADLIGHT_TAUGHT", str(tmp_path / "taught"))
    shelf.backend.cache_clear()
    yield tmp_path / "taught"
    shelf.backend.cache_clear()


def browser(monkeypatch: pytest.MonkeyPatch, **cookies: str) -> dict[str, Any]:
    """Streamlit as it is for a browser with these cookies; its session's state."""
    state: dict[str, Any] = {}
    monkeypatch.setattr(teaching, "st", SimpleNamespace(context=SimpleNamespace(cookies=cookies), session_state=state))
    return state


def test_a_visitor_is_known_by_the_cookie_and_what_is_written_down_does_not_tell_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    browser(monkeypatch, **{NAME: OURS})
    name = teaching.visitor()
    assert name == teaching.visitor()
    assert OWNER.fullmatch(name)
    assert OURS not in name
    browser(monkeypatch, **{NAME: OURS[::-1]})
    assert teaching.visitor() != name


@pytest.mark.parametrize("cookie", [None, "", "x", OURS + "x", OURS[:-1] + "\n", "../../etc", "<b>" * 8])
def test_without_a_cookie_of_ours_a_session_is_a_visitor(monkeypatch: pytest.MonkeyPatch, cookie: str | None) -> None:
    cookies = {} if cookie is None else {NAME: cookie}
    browser(monkeypatch, **cookies)
    first = teaching.visitor()
    assert first == teaching.visitor()
    browser(monkeypatch, **cookies)
    assert teaching.visitor() != first


def listed(*picked: str) -> dict[str, str]:
    """The taught models that are listed, by name, and their titles."""
    return {card.id: card.title for card in teaching.cards(*picked) if taught.is_taught(card.id)}


def test_a_visitor_finds_their_own_and_what_a_link_names(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser(monkeypatch, **{NAME: OURS})
    mine, others = kept(place, teaching.visitor(), "Mine"), kept(place, "bob", "Not mine")
    unfinished = of("Unfinished", teaching.visitor())
    (place / unfinished.id / "model").mkdir(parents=True)
    write(unfinished, place / unfinished.id)
    set_status(place / unfinished.id, Status("stopped"))
    assert listed() == {mine.name: "Mine"}
    assert listed(others.name) == {mine.name: "Mine", others.name: "Not mine"}
    assert listed(mine.name, unfinished.name, f"taught/{'a' * 22}", "taught/..") == {mine.name: "Mine"}
    (card,) = (card for card in teaching.cards() if card.id == mine.name)
    assert card.local
    assert card.downloaded
    assert card.kind == "encoder"
    teaching.queue().remove(mine.id)
    assert listed() == {}


def test_a_card_does_not_give_away_the_link_of_the_model_before(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser(monkeypatch, **{NAME: OURS})
    first = kept(place, "bob")
    second: Job = kept(place, teaching.visitor(), "Second")
    write(Job(**{**vars(second), "model": first.name}), place / second.id)
    (card,) = (card for card in teaching.cards() if card.id == second.name)
    assert first.id not in card.summary
