"""Options of a page: round trips through an address, and messages for invalid addresses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.cases import loop_over
from tests.support.page_options import page_options
from ui.state.params import AnsweringOptions, format_params, parse_params
from ui.state.view_state import ViewState
from viz.options import option, options_of


@dataclass(frozen=True)
class Waves:
    show: str = option("map", choices=("map", "curves"))
    note: str = "none"
    dimension: int = 3
    until: int | None = None
    checked: bool = False


@loop_over(("name", "kind"), page_options().items(), ids=lambda part: getattr(part, "__name__", part))
def test_a_page_s_own_option_is_none_of_the_shared_choice(name: str, kind: Any) -> None:
    """Names of options and of the view state are disjoint, because an address contains both."""
    shared, called = ({declared.name for declared in options_of(one).values()} for one in (ViewState, kind))
    assert not shared & called, f"{name} says what the shared choice says"


@pytest.mark.parametrize(
    "options", [Waves(), Waves("curves", "ä & = ?", 0, 7, True), Waves(note=""), Waves(dimension=9)]
)
def test_what_is_written_is_read_back(options: Waves) -> None:
    assert parse_params(Waves, format_params(options)) == (options, [])


def test_defaults_stay_out_of_the_address() -> None:
    assert format_params(Waves()) == {}
    assert format_params(Waves(checked=True)) == {"checked": "1"}


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"show": "<b>"}, "“show” is not valid"),
        ({"dimension": "-1"}, "“dimension” is not valid"),
        ({"until": "1e9"}, "“until” is not valid"),
        ({"checked": "yes"}, "“checked” is not valid"),
    ],
)
def test_what_cannot_be_read_is_said_and_the_default_used(query: dict[str, str], sentence: str) -> None:
    found, problems = parse_params(Waves, query)
    assert found == Waves()
    assert len(problems) == 1
    assert sentence in problems[0]


@dataclass(frozen=True)
class Told(AnsweringOptions):
    top: int = 8


def test_links_call_the_answering_model_as_they_always_did() -> None:
    assert parse_params(Told, {"speaker": "a/b"}) == (Told(answering_model="a/b"), [])
    assert format_params(Told(answering_model="a/b", top=9)) == {"speaker": "a/b", "top": "9"}
    assert parse_params(Told, {"answering_model": "a/b"}) == (Told(), []), "no link was ever written so"


def script() -> None:
    from dataclasses import dataclass

    import streamlit as st

    from ui.state.params import get_params, set_params
    from ui.state.session import begin, set_view_state

    @dataclass(frozen=True)
    class Knob:
        turn: int = 0

    begin("page")
    st.button("turn", on_click=lambda: set_params(Knob, turn=get_params(Knob).turn + 1))
    st.button("shared", on_click=lambda: set_view_state(words=True))
    st.text(get_params(Knob).turn)


def test_options_and_the_shared_choice_live_in_one_address() -> None:
    app = AppTest.from_function(script)
    app.query_params["turn"] = "4"
    app.run()
    assert app.text[0].value == "4"
    app.button[0].click().run()
    app.button[1].click().run()
    assert app.text[0].value == "5"
    assert {name: app.query_params[name] for name in ("turn", "words")} == {"turn": "5", "words": "1"}
    app.query_params["turn"] = "1"
    app.run()
    assert app.text[0].value == "1", "another address than the one written is followed"


def placed() -> None:
    from dataclasses import dataclass

    import streamlit as st

    from attention.edits import drop_token_edits
    from ui.state.params import AnsweringOptions, drop_place, get_params, set_params
    from ui.state.session import begin, set_view_state
    from viz.options import option

    @dataclass(frozen=True)
    class Strip(AnsweringOptions):
        at: int | None = option(None, of_text=drop_place)
        edits: str = option("", of_text=drop_token_edits)
        wide: bool = False

    def choose_both() -> None:
        set_view_state(text="A third.")
        set_params(Strip, at=1)

    begin("page")
    st.button("another text", on_click=lambda: set_view_state(text="Another."))
    st.button("another text, at its word", on_click=choose_both)
    st.button("another head", on_click=lambda: set_view_state(layer=1, head=1))
    st.button("another model", on_click=lambda: set_view_state(model="other"))
    st.button("another answers", on_click=lambda: set_params(Strip, answering_model="other"))
    st.text(get_params(Strip))


def shown(app: AppTest) -> tuple[int | None, str, bool]:
    """Return the page's options (place, edits, width)."""
    found = re.search(r"at=(\w+), edits='(.*?)', .*wide=(\w+)", app.text[0].value)
    assert found
    return None if found[1] == "None" else int(found[1]), found[2], found[3] == "True"


def test_a_new_text_forgets_the_places_in_the_old_one_and_nothing_else() -> None:
    app = AppTest.from_function(placed)
    app.query_params["at"], app.query_params["wide"], app.query_params["edits"] = "4", "1", "c1-2-3-4 a1-2"
    app.run()
    app.button[2].click().run()
    assert shown(app) == (4, "c1-2-3-4 a1-2", True), "the same text"
    app.button[0].click().run()
    assert shown(app) == (None, "a1-2", True)
    assert "at" not in app.query_params
    assert app.query_params["wide"] == "1"
    app.button[1].click().run()
    assert shown(app) == (1, "a1-2", True), "chosen after the new text"
    app.query_params["text"], app.query_params["at"], app.query_params["edits"] = "By a link.", "2", "a1-2"
    app.run()
    assert shown(app)[0] == 2, "a link's own place"
    assert "page" not in app.session_state["own_query_of_an_older_text"]
    app.button[3].click().run()
    assert shown(app)[0] is None, "another model cuts the text elsewhere"
    app.button[1].click().run()
    app.button[4].click().run()
    assert shown(app) == (None, "a1-2", True), "so does another one that answers"


def noted() -> None:
    from dataclasses import dataclass

    import streamlit as st

    from ui.run.notices import show_notes
    from ui.state.params import get_params, set_params
    from ui.state.session import begin

    @dataclass(frozen=True)
    class Knob:
        turn: int = 0

    begin("page")
    show_notes()
    st.button("turn", on_click=lambda: set_params(Knob, turn=5))
    get_params(Knob)
    get_params(Knob)


def test_what_cannot_be_read_is_said_once_wherever_a_page_finds_it() -> None:
    app = AppTest.from_function(noted)
    app.query_params["turn"] = "<b>"
    app.query_params["layer"] = "x"
    app.run()
    said = [element.proto.body for element in app.get("html")]
    assert len(said) == 2
    assert "“layer” is not valid" in said[0]
    assert "“turn” is not valid" in said[1]
    app.run()
    assert len(app.get("html")) == 2, "it stays until something is chosen"
    app.button[0].click().run()
    assert not app.get("html")
