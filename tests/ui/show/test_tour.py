"""The tour: a single offer, all its stops, interruption and resumption."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from i18n import use_language
from lessons.library import come_along
from lessons.library import tour as its_stops
from tests.support.asking import asked, go, notes, press
from ui.show import tour
from ui.show.views import file_of
from ui.state import visitor_values
from ui.state.navigation import view_named
from ui.state.view_state import DEFAULT_MODEL

BUTTON, BEGIN = str(tour.BUTTON), tour.BEGIN


def buttons(page: AppTest) -> set[str]:
    return {button.label for button in page.button}


def lead(page: AppTest, stop: int, **how: str) -> None:
    """Press the button with that label, icon, shortcut or key, and open the page of the next stop."""
    ((name, value),) = how.items()
    (button,) = (b for b in page.button if value in (b.label, b.key, getattr(b.proto, name, "")))
    button.click().run()
    view = its_stops().steps[stop].view
    assert view is not None
    page.switch_page(file_of(view_named(view.page) or ""))


@pytest.mark.slow
@pytest.mark.parametrize("page", ["explore", "positions", "classroom"])
def test_a_button_above_every_page_starts_it(page: str) -> None:
    shown = asked(page)
    lead(shown, 0, key=BEGIN)
    assert shown.session_state[tour.STOP] == 0
    assert BUTTON not in buttons(shown)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_stop_opens_its_page_and_its_view(language: str) -> None:
    with use_language(language):  # AppTest reads the names of options outside the page's run.
        walk(language)


def walk(language: str) -> None:
    """Visit all stops from the first to the last."""
    page = asked("explore", lang=language)
    lead(page, 0, icon=":material/tour:")
    steps = its_stops().steps
    for at, step in enumerate(steps):
        assert not page.exception
        assert notes(page, "refusal") == []
        text = step.text.in_language(language).replace("{lessons}", str(len(come_along())))
        assert any(text in said for said in notes(page))
        assert step.view is not None
        query = {name: value[0] if isinstance(value, list) else value for name, value in page.query_params.items()}
        asks_for = {name: raw for name, raw in step.view.query if name not in ("text", "focus", "to")}
        if asks_for.get("model") == DEFAULT_MODEL:
            del asks_for["model"]
        assert asks_for.items() <= query.items()
        if at < len(steps) - 1:
            lead(page, at + 1, shortcut="alt+pagedown")


@pytest.mark.slow
def test_it_waits_where_it_was_left() -> None:
    page = asked("lessons")
    lead(page, 0, key=BEGIN)
    lead(page, 1, label="Next")
    go(page, "lessons")
    assert any("waits at stop 2 of 6" in said for said in notes(page))
    press(page, "Skip the rest")
    assert "Go on" in buttons(page)
    lead(page, 1, label="Go on")
    assert any(said.startswith("Stop 2 of 6") for said in notes(page))


OWN = {"text": "Mice like old cheese.", "layer": "2", "head": "3"}


def chosen(page: AppTest) -> dict[str, str]:
    """Return the model, text, layer and head of the address."""
    query = {name: value[0] if isinstance(value, list) else value for name, value in page.query_params.items()}
    return {name: raw for name, raw in query.items() if name in ("model", "text", "layer", "head")}


def on_the_tour(stops: int) -> AppTest:
    """Return a page with the reader's own text and head after this many stops of the tour."""
    page = asked("explore", **OWN)
    page = go(page, "lessons")
    lead(page, 0, key=BEGIN)
    for at in range(1, stops):
        lead(page, at, shortcut="alt+pagedown")
    return page


@pytest.mark.slow
@pytest.mark.parametrize("stops", [1, 4, 5])
def test_leaving_the_tour_restores_model_and_text(stops: int) -> None:
    page = on_the_tour(stops)
    assert chosen(page) != OWN
    press(page, "Skip the rest")
    assert chosen(page) == OWN


@pytest.mark.slow
def test_the_last_stop_restores_model_and_text() -> None:
    page = on_the_tour(len(its_stops().steps))
    assert chosen(page) == OWN
    press(page, "End the tour")
    go(page, "explore")
    assert chosen(page) == OWN


@pytest.mark.slow
def test_another_page_during_the_tour_shows_the_own_text() -> None:
    page = on_the_tour(5)
    go(page, "tokens")
    assert chosen(page) == OWN
    assert any("waits at stop 5 of 6" in said for said in notes(page))


@pytest.mark.slow
def test_a_text_typed_on_the_tour_is_kept() -> None:
    page = on_the_tour(3)
    page.query_params["text"] = "A text typed at the stop."
    page.run()
    press(page, "Skip the rest")
    assert chosen(page)["text"] == "A text typed at the stop."


@pytest.mark.slow
def test_a_reload_on_the_tour_keeps_the_own_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitor_values, "cookie", lambda: "a" * 22)
    before = on_the_tour(5)
    query = {name: value[0] if isinstance(value, list) else value for name, value in before.query_params.items()}
    page = asked("translate", **query)
    assert any("Stop 5 of 6" in said for said in notes(page))
    press(page, "Skip the rest")
    assert chosen(page) == OWN


def back_to(page: AppTest, name: str, query: dict[str, str]) -> None:
    """Open the page and the address of an earlier entry of the browser's history."""
    go(page, name, **query)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "own"),
    [("explore", OWN), ("explore", {}), ("lessons", {"text": OWN["text"]})],
    ids=["own", "default", "lessons"],
)
def test_back_from_the_first_stop_leaves_the_tour(name: str, own: dict[str, str]) -> None:
    """A first visitor's text is that of the tour, so that its text alone does not tell the stop."""
    page = asked(name, **own)
    lead(page, 0, key=BEGIN)
    assert any("Stop 1 of 6" in said for said in notes(page))
    back_to(page, name, own)
    assert tour.STOP not in page.session_state
    assert chosen(page) == own
    go(page, "tokens")
    assert {name: raw for name, raw in chosen(page).items() if name in own} == own


@pytest.mark.slow
def test_back_to_the_first_stop_stays_on_the_tour() -> None:
    page = asked("explore")
    lead(page, 0, key=BEGIN)
    query = {name: value[0] if isinstance(value, list) else value for name, value in page.query_params.items()}
    lead(page, 1, shortcut="alt+pagedown")
    back_to(page, "explore", query)
    assert page.session_state[tour.STOP] == 0


def test_six_stops_in_both_languages() -> None:
    stops = its_stops()
    assert len(stops.steps) == 6
    assert all(step.view is not None and step.question is None for step in stops.steps)
    assert all({"en", "zh"} <= dict(said.by).keys() for step in stops.steps for said in (step.title, step.text))


@pytest.mark.slow
def test_the_last_stop_states_the_number_of_lessons() -> None:
    page = asked("lessons")
    page.session_state[tour.STOP] = len(its_stops().steps) - 1
    (said,) = [said for said in notes(page.run()) if "Stop 6 of 6" in said]
    assert f"{len(come_along())} lessons" in said
