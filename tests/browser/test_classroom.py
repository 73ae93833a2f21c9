"""Browser tests of a class with a teacher and a student, and of the projector view."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, WebSocketRoute, expect

from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import LAPTOP, PHONE, Problems, new_window
from tests.support.visitor import DEEP_LINK, box_of, go_to, open_class, open_page, painted, stands, text_box
from ui.state.view_state import ViewState
from ui.streamlit_internals import MESSAGES, ForwardMsg


@pytest.fixture
def student(browser: Browser) -> Iterator[Page]:
    """Yield a page in a separate browser context, with a phone's viewport."""
    with new_window(browser, viewport={"width": 390, "height": 844}) as context:
        context.set_default_timeout(PATIENCE)
        yield context.new_page()


def test_a_class_from_the_first_code_to_the_end(page: Page, student: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    code = open_class(page, app_url)
    expect(page.get_by_text("headlight serve")).to_be_visible()

    open_page(student, app_url, "/classroom", **{"class": code})
    student.get_by_role("textbox", name="Name (optional)").fill("Anna")
    click(student.get_by_role("button", name="Join"))
    expect(student.get_by_text("name: Anna")).to_be_visible()
    expect(page.get_by_text("Students: 1.")).to_be_visible()

    click(page.get_by_text("Share my view"))
    go_to(page, "explore")
    painted(student)  # The student's page follows the teacher's without a click.
    expect(student.get_by_text("you follow your teacher’s view")).to_be_visible()

    # The number of students is shown on every page of the teacher.
    expect(page.get_by_text("Students: 1.")).to_be_visible()
    go_to(page, "classroom")
    page.get_by_role("textbox", name="Question").fill("Which word does “it” look at?")
    page.get_by_role("textbox", name="Correct answer (optional)").fill("animal")
    click(page.get_by_role("button", name="Ask", exact=True))
    # The question appears on the page that it concerns.
    expect(student.locator(".st-key-class_bar").get_by_text("Which word does “it” look at?")).to_be_visible()
    expect(student.locator(".st-key-follower [role=status]")).to_have_text("Question 1. Which word does “it” look at?")
    student.get_by_role("textbox", name="Your answer").fill("Animal")
    click(student.get_by_role("button", name="Answer", exact=True))
    expect(student.get_by_text("Your answer: Animal")).to_be_visible()
    expect(
        student.get_by_role("textbox", name="Your answer")
    ).to_be_hidden()  # The form of an answered question is folded.
    click(student.get_by_text("I am lost"))
    names = page.locator(".st-key-private_names")
    click(names.locator("summary"))  # folded, because the class may see the page
    expect(names.get_by_text("Anna")).to_be_visible()
    click(page.get_by_role("button", name="Projector (P)"))
    expect(page.get_by_text("1 is lost.")).to_be_visible()  # A projector shows no names.
    expect(page.get_by_text("Anna")).to_be_hidden()
    for private in ("Ask the class", "View privately"):
        expect(page.get_by_text(private)).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.get_by_role("textbox", name="Correct answer (optional)")).to_be_visible()

    student.reload()  # A reload keeps the student's identity.
    expect(student.get_by_text("Your answer: Animal")).to_be_visible()
    tab = page.context.new_page()  # A new tab of the teacher resumes the class.
    open_page(tab, app_url, "/classroom")
    expect(tab.locator("[data-testid=stMetricValue]")).to_have_text(code)
    tab.close()
    click(page.get_by_role("button", name="Show answers"))
    click(page.get_by_role("button", name="Confirm"))
    expect(student.get_by_text("Correct: 1. Your answer: Animal.")).to_be_visible()

    click(page.get_by_role("button", name="Close the class"))
    click(page.get_by_role("button", name="Confirm"))
    expect(page.get_by_role("button", name="Open a class")).to_be_visible()
    expect(student.get_by_text(f"Class {code} has")).to_be_visible()


def test_a_lesson_question_is_answered_in_the_class_bar(
    page: Page, student: Page, app_url: str, problems: Problems
) -> None:
    problems.allow(DEEP_LINK)
    code = open_class(page, app_url)
    open_page(student, app_url, "/classroom", **{"class": code, "lang": "zh"})
    click(student.get_by_role("button", name="加入"))
    click(page.get_by_text("Share my view"))
    open_page(page, app_url, "/lessons", lesson="it_and_animal", step=4)
    expect(student.get_by_role("button", name="检查")).to_be_visible()
    click(page.get_by_role("button", name=f"Ask class {code} this"))
    expect(student.get_by_text("请在上方回答全班的问题。")).to_be_visible()
    expect(student.get_by_role("button", name="检查")).to_be_hidden()
    expect(student.locator(".st-key-class_bar")).to_contain_text("“it”给哪一个更多？")
    go_to(page, "classroom")
    page.get_by_role("textbox", name="Question").fill("And now?")
    click(page.get_by_role("button", name="Ask", exact=True))  # closes the open question, so it is confirmed
    expect(page.get_by_text("This closes question 1 without")).to_be_visible()
    click(page.get_by_role("button", name="Confirm"))
    expect(page.get_by_text("This closes question")).to_have_count(0)
    expect(student.locator(".st-key-class_bar")).to_contain_text("And now?")
    click(page.get_by_role("button", name="Show answers"))
    click(page.get_by_role("button", name="Confirm"))
    expect(student.get_by_text("请在上方回答全班的问题。")).to_be_hidden()


def test_a_half_typed_answer_survives_the_teacher_s_next_step(
    page: Page, student: Page, app_url: str, problems: Problems
) -> None:
    problems.allow(DEEP_LINK)
    code = open_class(page, app_url)
    open_page(student, app_url, "/classroom", **{"class": code})
    click(student.get_by_role("button", name="Join"))
    click(page.get_by_text("Share my view"))
    open_page(page, app_url, "/lessons", lesson="attention", step=8)
    painted(student, layer=3, head=1)
    click(page.get_by_role("button", name="Next").first)  # To a step with another text and without a head.
    text_box(page).wait_for()
    rest(page)
    expect(text_box(student)).to_have_value(text_box(page).input_value())
    found = painted(page)
    painted(student, layer=found["layer"], head=found["head"])
    field = student.get_by_role("textbox", name="Your answer")
    expect(field).to_be_visible()
    rest(student)
    field.press_sequentially("Head 2-8: a habit")
    click(page.get_by_role("button", name="Next").first)
    expect(field).to_be_hidden()  # The next step has choices.
    rest(student)
    click(page.locator(".st-key-lesson_back button"))
    expect(field).to_have_value("Head 2-8: a habit")
    click(student.get_by_role("button", name="Next").first)
    expect(student.get_by_text("you go your own way")).to_be_visible()


def test_a_typed_draft_is_there_after_another_page_and_a_reload(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/classroom")
    click(page.get_by_role("button", name="Open a class"))
    field = page.get_by_role("textbox", name="Question")
    expect(field).to_be_visible()
    rest(page)
    field.fill("Which?")
    click(page.get_by_text("Share my view"))
    go_to(page, "by_hand")
    go_to(page, "classroom")
    expect(field).to_have_value("Which?")
    page.reload()
    expect(field).to_have_value("Which?")
    expect(page.get_by_role("switch", name="Share my view")).to_be_checked()


class FragmentFilter:
    """A WebSocket route that drops the elements of fragments while a run of the whole page is sent.

    Streamlit's own queue does the same if an update of a fragment is due during a run of the page.
    """

    def __init__(self) -> None:
        self.drops = False
        self.dropped = 0

    def __call__(self, socket: WebSocketRoute) -> None:
        """Forward the messages between the browser and the app."""
        app = socket.connect_to_server()
        app.on_message(lambda sent: self._forward(socket, sent))

    def _forward(self, socket: WebSocketRoute, sent: str | bytes) -> None:
        message = ForwardMsg()
        message.ParseFromString(sent if isinstance(sent, bytes) else sent.encode())
        if self.drops and message.delta.fragment_id:
            self.dropped += 1
            return
        if message.HasField("script_finished"):
            self.drops = False
        socket.send(sent)


def test_the_form_stays_if_an_update_is_due_during_a_run(
    page: Page, student: Page, app_url: str, problems: Problems
) -> None:
    problems.allow(DEEP_LINK)
    fragments = FragmentFilter()
    page.route_web_socket(lambda url: MESSAGES in url, fragments)
    code = open_class(page, app_url)
    fields = page.get_by_role("textbox", name="Question"), page.get_by_role("button", name="Close the class")
    for field in fields:
        expect(field).to_be_visible()
    rest(page)
    fragments.drops = True
    page.get_by_text("Share my view").click()
    expect(page.get_by_role("switch", name="Share my view")).to_be_checked()

    open_page(student, app_url, "/classroom", **{"class": code})
    click(student.get_by_role("button", name="Join"))
    expect(page.get_by_text("Students: 1.")).to_be_visible()  # An update after the run.
    assert fragments.dropped
    for field in fields:
        expect(field).to_be_visible()


# Letter height in window pixels, for HTML elements, SVG texts and the last text drawn on a canvas.
LETTERS = """(el) => {
    const size = (font) => parseFloat(font.match(/([\\d.]+)px/)[1]);
    if (el instanceof HTMLCanvasElement)
        return size(el.getContext("2d").font) * el.getBoundingClientRect().width / el.offsetWidth;
    const own = size(getComputedStyle(el).fontSize);
    if (el instanceof SVGElement) return own * el.getScreenCTM().a;
    return own * el.getBoundingClientRect().width / el.offsetWidth;
}"""
EXIT = "Leave the projector view (Esc)"


def letters(page: Page, *selectors: str) -> list[float]:
    """Return the letter height in the first element of each selector, in pixels of the window."""
    return [page.locator(selector).first.evaluate(LETTERS) for selector in selectors]


def test_a_projector_shows_text_and_maps_larger(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, layer=3, head=1)
    painted(page, layer=3, head=1)
    rest(page)
    shown = ("[data-testid=stCaptionContainer] p", ".chips button", ".figure canvas", ".grid canvas")
    before = letters(page, *shown)
    page.keyboard.press("p")
    rest(page)
    assert letters(page, *shown) == pytest.approx([1.6 * size for size in before], rel=0.03)


def test_a_projector_shows_whole_charts_larger(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/why_attention")
    stands(page)
    page.locator(".js-plotly-plot").first.wait_for()
    rest(page)
    shown = (".js-plotly-plot .xtick text", ".js-plotly-plot .gtitle")
    before = letters(page, *shown)
    page.keyboard.press("p")
    rest(page)
    assert letters(page, *shown) == pytest.approx([1.6 * size for size in before], rel=0.03)
    for chart in page.locator(".js-plotly-plot .main-svg:first-child").all():
        frame = chart.locator("xpath=ancestor::*[@data-testid='stElementContainer'][1]")
        room, drawn = box_of(frame), box_of(chart)
        assert drawn["width"] <= room["width"] + 2
        assert drawn["height"] <= room["height"] + 2


def test_a_menu_is_larger_for_a_projector(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/measure")
    stands(page)
    rest(page)
    sizes = []
    for _ in range(2):
        control = page.get_by_test_id("stMain").get_by_role("combobox").first
        click(control)
        option = page.get_by_role("option").first
        option.wait_for()
        sizes += [option.evaluate(LETTERS)]
        menu, field = box_of(page.get_by_role("listbox")), box_of(control)
        assert menu["x"] == pytest.approx(field["x"], abs=4)
        assert min(abs(menu["y"] - field["y"] - field["height"]), abs(field["y"] - menu["y"] - menu["height"])) < 12
        page.keyboard.press("Escape")
        option.wait_for(state="detached")
        # The bar lies above the other end of the title.
        click(page.get_by_test_id("stMain").get_by_role("heading").first, position={"x": 4, "y": 4})
        page.keyboard.press("p")
    assert sizes[1] == pytest.approx(1.6 * sizes[0], rel=0.03)


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_the_end_of_a_page_is_reached_on_a_projector(
    page: Page, app_url: str, problems: Problems, size: ViewportSize
) -> None:
    problems.allow(DEEP_LINK)
    page.set_viewport_size(size)
    open_page(page, app_url)
    stands(page)
    rest(page)
    page.keyboard.press("p")
    page.locator("#headlight-projector-exit").wait_for()
    rest(page)
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    last = box_of(page.get_by_test_id("stMain").get_by_test_id("stExpander").last)
    assert 0 < last["y"] + last["height"] <= size["height"]


# In the projector view this window leaves the page as many layout pixels as a phone has without it.
PROJECTED: ViewportSize = {"width": 624, "height": 1398}


def place_on(page: Page, canvas: str, across: float, down: float) -> tuple[float, float]:
    """Return window coordinates of a point given in shares of the canvas's width and height."""
    page.mouse.move(0, 0)
    page.locator(canvas).first.scroll_into_view_if_needed()
    rest(page)
    return point_of(page, canvas, across, down)


def point_of(page: Page, canvas: str, across: float, down: float) -> tuple[float, float]:
    box = box_of(page.locator(canvas).first)
    return box["x"] + box["width"] * across, box["y"] + box["height"] * down


def tip_at(page: Page, canvas: str, across: float, down: float) -> str:
    """Move the pointer to a point of a canvas, and return the tooltip's text."""
    page.mouse.move(*place_on(page, canvas, across, down))
    rest(page)
    return page.get_by_role("tooltip").first.inner_text()


def test_a_projector_finds_the_cell_under_the_pointer(page: Page, app_url: str, problems: Problems) -> None:
    """A point of a canvas has the same tooltip, and a click there chooses the same row, in both views."""
    problems.allow(DEEP_LINK)
    page.set_viewport_size(PHONE)
    # Near the middle of a row: at 0.9, which is the edge of two rows, a rounded pixel decided.
    places = [(".figure canvas", 0.75, 0.925), (".figure canvas", 0.4, 0.5), (".grid canvas", 0.9, 0.9)]
    found, rows = [], []
    for size in (PHONE, PROJECTED):
        open_page(page, app_url, layer=3, head=1)
        painted(page, layer=3, head=1)
        if size is PROJECTED:
            page.keyboard.press("p")
        page.set_viewport_size(size)
        rest(page)
        found += [[page.locator(".figure canvas").first.evaluate("(el) => el.offsetWidth")]]
        found[-1] += [tip_at(page, *place) for place in places]
        page.mouse.move(*place_on(page, *places[0]))
        rest(page)  # The sentence above the canvas follows the pointer; a longer one moves the canvas once.
        place = point_of(page, *places[0])
        page.mouse.move(0, 0)
        rest(page)
        assert point_of(page, *places[0]) == place  # A shorter sentence moves nothing.
        page.mouse.click(*place)
        page.mouse.move(0, 0)
        rest(page)
        rows += [painted(page, layer=3, head=1)["focus"]]
    assert found[0] == found[1]
    assert rows[0] == rows[1]
    assert int(rows[0]) >= 13  # The place is near the end of the text.


@pytest.mark.parametrize("leave", ["button", "Escape", "p"])
def test_a_visible_button_and_keys_leave_the_projector(
    page: Page, app_url: str, problems: Problems, leave: str
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/by_hand")
    click(page.get_by_role("button", name="Projector (P)"))
    out = page.get_by_role("button", name=EXIT)
    expect(out).to_be_focused()
    app, bar = box_of(page.get_by_test_id("stApp")), box_of(out)
    assert app["y"] >= bar["y"] + bar["height"]
    page.keyboard.press("Enter" if leave == "button" else leave)
    expect(out).to_have_count(0)
    expect(page.get_by_test_id("stSidebar")).to_be_visible()


def test_a_key_makes_the_page_fit_a_projector(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/by_hand")
    rest(page)
    sidebar = page.locator("[data-testid=stSidebar]")
    expect(sidebar).to_be_visible()
    page.keyboard.press("p")
    expect(sidebar).to_be_hidden()
    page.reload()
    rest(page)
    expect(sidebar).to_be_hidden()
    page.keyboard.press("p")
    expect(sidebar).to_be_visible()


def test_a_copied_link_names_model_and_text_but_no_class(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_page(page, app_url, "/classroom")
    click(page.get_by_role("button", name="Open a class"))
    go_to(page, "tokens")
    expect(page).to_have_url(re.compile("class="))
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    link = urlsplit(page.evaluate("navigator.clipboard.readText()"))
    assert link.path.endswith("/tokens")
    assert dict(parse_qsl(link.query)) == {"model": ViewState().model, "text": ViewState().text}
