"""Visibility of fine-tuned models: a visitor's own models, and models opened by link."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inference import TraceRequest
from inference.files import sources
from tests.support.asking import asked, notes
from tests.support.taughtfolders import taught_in
from tests.support.trainings import kept, learn_on, of
from training.jobs.job import OWNER, Status, Training, set_status, write
from ui.run import fine_tuning, services
from ui.run.services import prior_of
from ui.server.middleware import NAME

OURS = "AbCdEfGhIjKlMnOpQrSt-_"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    with taught_in(tmp_path / "taught") as found:
        yield found


def browser(monkeypatch: pytest.MonkeyPatch, **cookies: str) -> dict[str, Any]:
    """Simulate a browser with these cookies and return the state of its session."""
    state: dict[str, Any] = {}
    monkeypatch.setattr(
        fine_tuning, "st", SimpleNamespace(context=SimpleNamespace(cookies=cookies), session_state=state)
    )
    return state


def test_a_visitor_is_known_by_the_cookie_and_what_is_written_down_does_not_tell_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    browser(monkeypatch, **{NAME: OURS})
    name = fine_tuning.visitor()
    assert name == fine_tuning.visitor()
    assert OWNER.fullmatch(name)
    assert OURS not in name
    browser(monkeypatch, **{NAME: OURS[::-1]})
    assert fine_tuning.visitor() != name


@pytest.mark.parametrize("cookie", [None, "", "x", OURS + "x", OURS[:-1] + "\n", "../../etc", "<b>" * 8])
def test_without_a_cookie_of_ours_a_session_is_a_visitor(monkeypatch: pytest.MonkeyPatch, cookie: str | None) -> None:
    cookies = {} if cookie is None else {NAME: cookie}
    browser(monkeypatch, **cookies)
    first = fine_tuning.visitor()
    assert first == fine_tuning.visitor()
    browser(monkeypatch, **cookies)
    assert fine_tuning.visitor() != first


def listed(*picked: str) -> dict[str, str]:
    """Return the titles of the listed fine-tuned models, by name."""
    return {card.id: card.title for card in fine_tuning.cards(*picked) if sources.is_taught(card.id)}


def test_a_visitor_finds_their_own_and_what_a_link_names(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser(monkeypatch, **{NAME: OURS})
    mine, others = kept(place, fine_tuning.visitor(), "Mine"), kept(place, "bob", "Not mine")
    unfinished = of("Unfinished", fine_tuning.visitor())
    (place / unfinished.id / "model").mkdir(parents=True)
    write(unfinished, place / unfinished.id)
    set_status(place / unfinished.id, Status("stopped"))
    assert listed() == {mine.name: "Mine"}
    assert listed(others.name) == {mine.name: "Mine", others.name: "Not mine"}
    assert listed(mine.name, unfinished.name, f"taught/{'a' * 22}", "taught/..") == {mine.name: "Mine"}
    (card,) = (card for card in fine_tuning.cards() if card.id == mine.name)
    assert card.local
    assert card.downloaded
    assert card.kind == "encoder"
    fine_tuning.queue().remove(mine.id)
    assert listed() == {}


def test_a_card_does_not_give_away_the_link_of_the_model_before(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser(monkeypatch, **{NAME: OURS})
    first = kept(place, "bob")
    second: Training = kept(place, fine_tuning.visitor(), "Second")
    write(Training(**{**vars(second), "model": first.name}), place / second.id)
    (card,) = (card for card in fine_tuning.cards() if card.id == second.name)
    assert first.id not in card.summary


@pytest.mark.slow
def test_a_page_reads_the_model_as_it_is_now_whatever_its_address_says(place: Path) -> None:
    job = kept(place)
    page = asked("explore", model=job.name, revision="of-an-older-link", text="c d 1 2")
    first = page.query_params["revision"]
    assert first == sources.state_stamp(job.name, services.get_backend().settings)
    (box,) = (box for box in page.selectbox if box.label == "Model")
    assert (box.value, box.options[-1]) == (job.name, job.title)
    assert not [field for field in page.text_input if field.label == "Revision"]
    learn_on(place / job.id)
    page.run()
    assert page.query_params["revision"] == sources.state_stamp(job.name, services.get_backend().settings) != first
    assert not page.exception
    fine_tuning.queue().remove(job.id)
    page.run()
    assert "was deleted" in " ".join(notes(page, "refusal"))


@pytest.mark.slow
def test_what_the_heads_of_a_taught_model_do_anyway_is_measured(place: Path) -> None:
    job = kept(place, max_position_embeddings=512)
    trace = services.get_backend().trace(TraceRequest(job.name, "c d 1 2"))
    assert trace.model.name == job.title
    state = services.get_backend().revision_now(job.name, None) or ""
    assert prior_of(job.name, state, trace, None) is not None
    assert prior_of(kept(place, title="Another").name, state, trace, None) is None
