"""Lessons of the reader's own: editing, errors, hostile text, links and playing."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from lessons.library import pack_lesson, source, template, unpack_lesson
from lessons.reading import lesson_of
from lessons.schema import LocalizedText
from lessons.steps import markdown_of as shown
from tests.support.asking import asked, notes, press, says
from tests.support.cases import loop_over
from ui.pages.lessons import teaching
from ui.run import network
from ui.run.current_lesson import choice_of
from ui.state import visitor_values
from ui.state.view_state import parse

SMALL = """title = "One"
minutes = 5
[[step]]
title = "First"
text = "Look at <b>this</b> ![picture](https://example.org/spy.png) and [[that]]."
[step.view]
link = "/explore?text=The cat drank the milk."
highlight = ["nowhere", "milk"]
[step.question]
kind = "number"
ask = "How many tokens?"
check = { name = "tokens" }
[[step]]
title = "Second <script>"
text = "x"
[step.question]
kind = "number"
ask = "?"
check = { name = "weight", layer = 0, head = 0, word = "a", to = "b" }
"""


def written(text: str) -> AppTest:
    page = asked("lessons", lesson="own", show="write")
    page.text_area[0].set_value(text).run()
    return page


@loop_over("query", ["layer=3&head=1", "model=all-MiniLM-L6-v2&text=A cat."])
def test_a_pasted_address_opens_the_view_of_the_browser(query: str) -> None:
    (step, _last) = lesson_of(SMALL.replace("/explore?text=The cat drank the milk.", f"http://a/explore?{query}")).steps
    assert step.view is not None
    assert choice_of(step.view) == parse(dict(parse_qsl(query)))[0]


@pytest.mark.slow
def test_what_is_wrong_is_told_by_its_line() -> None:
    page = written(SMALL.replace("minutes = 5", "minutes = 'x'").replace('kind = "number"', 'kind = "numbr"', 1))
    assert not page.exception
    refusals = notes(page, "refusal")
    assert any(said.startswith("Line 2: “minutes”") for said in refusals)
    assert any(said.startswith("Line 10: ") and "numbr" in said for said in refusals)
    assert "Play it" not in [button.label for button in page.button]


@pytest.mark.slow
def test_a_replaced_text_of_the_readers_own_is_brought_back() -> None:
    page = written(SMALL)
    for name in ("order", ""):  # the second choice must not forget the reader's own text
        page.selectbox(key=teaching.BEGIN).set_value(name).run()
        assert page.text_area(key=teaching.BOX).value == (source(name) if name else template())
    press(page, "Undo")
    assert page.text_area(key=teaching.BOX).value == SMALL
    assert "Undo" not in [button.label for button in page.button]


@pytest.mark.slow
def test_a_reload_keeps_the_readers_own_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitor_values, "cookie", lambda: "w" * 22)
    page = written(SMALL)
    assert asked("lessons", lesson="own", show="write").text_area(key=teaching.BOX).value == SMALL
    page.selectbox(key=teaching.BEGIN).set_value("order").run()
    page = asked("lessons", lesson="own", show="write")
    assert page.text_area(key=teaching.BOX).value == source("order")
    press(page, "Undo")
    assert page.text_area(key=teaching.BOX).value == SMALL
    page = asked("lessons", lesson="own", show="write", carried=str(pack_lesson(source("order"))))
    press(page, "Undo")
    assert page.text_area(key=teaching.BOX).value == SMALL


@pytest.mark.slow
def test_it_is_played_and_its_text_is_no_markup() -> None:
    page = written(SMALL)
    press(page, "Play it")
    assert not page.exception
    assert page.header[0].value == "One"
    texts = [one.value for one in page.markdown]
    assert "Look at <b>this</b> picture and [[that]]." in texts
    assert not any(one.proto.allow_html for one in page.markdown)
    page.text_input(key="lesson_own_0_number").set_value("8")
    press(page, "Check")
    says(page, "Tokens: 8.")


@pytest.mark.slow
def test_a_check_that_cannot_be_answered_says_why() -> None:
    page = asked("lessons", lesson="own", carried=str(pack_lesson(SMALL)), step=1)
    page.text_input(key="lesson_own_1_number").set_value("1")
    press(page, "Check")
    says(page, "is empty")


@pytest.mark.slow
def test_the_editor_names_the_steps_without_an_answer() -> None:
    page = written(SMALL)
    assert notes(page, "refusal") == []
    press(page, "Check answers")
    (reason,) = notes(page, "refusal")
    assert reason.startswith("Step 2: ")
    whole = source("it_and_animal").replace('over = "street"', 'over = "stret"', 1)
    at = next(
        at
        for at, step in enumerate(lesson_of(whole).steps, 1)
        if step.question is not None and step.question.check is not None and "stret" in str(step.question.check.given)
    )
    page.text_area(key=teaching.BOX).set_value(whole).run()
    assert notes(page, "refusal") == [], "another text is checked again"
    press(page, "Check answers")
    assert notes(page, "refusal") == [f"Step {at}: The text has no “stret”."]
    page.text_area(key=teaching.BOX).set_value(source("it_and_animal")).run()
    press(page, "Check answers")
    assert notes(page, "refusal") == []
    assert any("computed" in said for said in notes(page))
    (found,) = (one.value for one in page.markdown if one.value.startswith("- Step "))
    steps = lesson_of(source("it_and_animal")).steps
    assert found.count("\n") + 1 == sum(step.question is not None and step.question.kind != "text" for step in steps)


@pytest.mark.slow
@pytest.mark.parametrize("opened", ['layer=3&head=1"\nhighlight = ["it"]', 'layer=3&head=1&focus=10"'])
def test_the_editor_warns_of_a_view_that_shows_a_later_answer(opened: str) -> None:
    text = source("attention").replace('layer=1&head=4"\nhighlight = ["was", "tired"]', opened, 1)
    page = written(text)
    press(page, "Check answers")
    assert "Step 6: The view of step 1 shows the answer." in notes(page)
    page.text_area(key=teaching.BOX).set_value(source("attention")).run()
    press(page, "Check answers")
    assert not any("shows the answer" in note for note in notes(page))


@pytest.mark.slow
def test_a_view_without_a_model_names_no_model() -> None:
    for step, has_model in ((3, False), (5, True)):
        page = asked("lessons", lesson="attention", step=str(step))
        assert any(one.value.startswith("Model: ") for one in page.caption) is has_model


@pytest.mark.slow
@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("/translate?text=A cat.&model=headlight-bert", "This model does not translate"),
        ("/explore?text=A cat.&part=cross", "There is no part “cross”"),
        ("/explore?text=A cat.&model=nobody/nothing", "nobody/nothing"),
        ("/masked_words?text=A cat.&model=headlight-bert", "No word is hidden"),
        ("/explore?text=A cat.&layer=99&head=99", "head 99-99"),
        ("/nowhere?text=A cat.", "The app has no page “nowhere”"),
        ("/positions?text=A cat.&show=vectors", ""),
        ("/generate?text=A cat.", ""),
    ],
)
def test_odd_views_are_answered_in_a_sentence(link: str, said: str) -> None:
    text = SMALL.replace("/explore?text=The cat drank the milk.", link)
    page = asked("lessons", lesson="own", carried=str(pack_lesson(text)))
    assert not page.exception
    if said:
        says(page, said)
    page.text_input(key="lesson_own_0_number").set_value("1")
    press(page, "Check")
    assert not page.exception


@pytest.mark.slow
def test_a_lesson_link_has_the_network_s_address(monkeypatch: pytest.MonkeyPatch) -> None:
    page = written(SMALL)
    (link,) = (one.proto for one in page.get("page_link") if one.proto.label == "Lesson link")
    assert not link.external
    monkeypatch.setattr(network, "is_open", lambda: True)
    monkeypatch.setattr(network, "reached_by", lambda: ("192.168.1.7:8501",))
    (link,) = (one.proto for one in page.run().get("page_link") if one.proto.label == "Lesson link")
    place = urlsplit(link.page)
    assert (place.netloc, place.path) == ("192.168.1.7:8501", "/lessons")
    assert parse_qsl(place.query) == [("lesson", "own"), ("carried", pack_lesson(SMALL))]


@pytest.mark.slow
def test_a_lesson_comes_with_its_link() -> None:
    page = asked("lessons", lesson="own", carried=str(pack_lesson(SMALL)))
    assert page.header[0].value == "One"
    assert page.query_params["carried"]
    press(page, "Next", key="lesson_next")
    assert page.subheader[0].value == "Second <script>"


@pytest.mark.slow
@loop_over(
    ("query", "said"),
    [
        ({"lesson": "own", "carried": "x"}, "The lesson in this link is damaged"),
        ({"lesson": "<b>"}, "lesson “<b>”"),
        ({"lesson": "order", "step": "x"}, "“step” is not valid"),
        ({"lesson": "order", "show": "x"}, "“show” is not valid"),
        ({"lesson": "own", "carried": pack_lesson("title = 3")}, "Your own lesson has faults"),
    ],
)
def test_odd_links_are_answered_in_a_sentence(query: dict[str, str], said: str) -> None:
    page = asked("lessons", **query)
    assert not page.exception
    says(page, said)


@pytest.mark.slow
def test_a_step_beyond_the_last_is_the_last_and_answers_stay_while_one_goes_about() -> None:
    page = asked("lessons", lesson="attention", step=1)
    page.text_input(key="lesson_attention_1_number").set_value("5")
    press(page, "Check")
    says(page, "2 × 2 + 1 × 1 = 5")
    press(page, "Next", key="lesson_next")
    press(page, "Back", key="lesson_back")
    says(page, "2 × 2 + 1 × 1 = 5")
    press(page, "All lessons")
    assert "Go on" in [button.label for button in page.button]
    assert any("1 of 10 answered" in one.value for one in page.caption)
    assert asked("lessons", lesson="attention", step=999).subheader[0].value == "Exit question"


def test_a_link_of_a_lesson_is_bounded() -> None:
    assert unpack_lesson(str(pack_lesson(SMALL))) == SMALL
    assert pack_lesson("".join(chr(0x4E00 + at * at % 20_000) for at in range(30_000))) is None
    assert unpack_lesson(str(pack_lesson("a" * 300_000))) is None
    assert [unpack_lesson(raw) for raw in ("", "!", "AAAA")] == [None] * 3


@pytest.mark.parametrize("text", ["![a](b)", "a![", "[![a](b)](c)", "![a][b]", "!![](b)[a](c)", "![![a](b)](c)"])
def test_no_picture_is_left(text: str) -> None:
    assert "![" not in shown(LocalizedText((("", text),)))
