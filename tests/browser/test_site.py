"""A static site in a browser: served by a plain server below a path, with every other host blocked, and offline."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from attention.view import View
from headlight.command import main
from headlight.site_command import FAMOUS
from inference import EMBEDDED, LocalBackend, TraceRequest
from tests.support.accessibility import accessibility
from tests.support.atrest import PATIENCE
from tests.support.browser import Problems
from tests.support.picturemodels import picture, save, sight
from tests.support.statichosts import host_folder
from viz.components.picture.content import photo

CAT = "The cat sat uncharacteristically on the mat because it was warm."
LESSONS = ["--lessons", "attention", "translation"]
CAPTION = "Figure 1: a <b>cat</b>."


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("host")
    away = tmp_path_factory.mktemp("away")
    (away / "noise.png").write_bytes(photo(picture()))
    seen = ["--model", str(save(sight("DINOv2 with registers"), away / "model")), "--picture", str(away / "noise.png")]
    options = ["--model", EMBEDDED, "--text", CAT, "--caption", CAPTION, *seen, "--lang", "en", "zh", *LESSONS]
    assert main(["site", str(root / "some" / "path"), *options]) == 0
    with host_folder(root) as address:
        yield f"{address}some/path/"


def painted(page: Page) -> None:
    expect(page.locator("[data-painted]").first).to_be_visible(timeout=PATIENCE)


def test_the_famous_pair_is_there_and_a_click_switches_it(page: Page, site: str) -> None:
    page.goto(site)
    painted(page)
    backend = LocalBackend()
    for word, text in zip(FAMOUS.words, FAMOUS.texts, strict=True):
        page.locator("#variants").get_by_role("button", name=word).click()
        trace = backend.trace(TraceRequest(text=text))
        row = View(trace).rows(trace.tokens.index("it"))[3, 1]
        target = row.argmax()
        expect(page.locator(".hl")).to_contain_text(f"{row[target]:.0%}")
        expect(page.locator(".hl")).to_contain_text(trace.tokens[target])
        expect(page.locator("#about")).to_contain_text(text)
    expect(page.locator("#note")).to_contain_text(re.compile(r"\d+ .*72"))
    for width, height in ((1440, 900), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        painted(page)
        assert accessibility(page) == []


def test_a_link_restores_a_text_and_its_head(page: Page, site: str) -> None:
    page.goto(site)
    page.get_by_role("button", name=CAT, exact=True).click()
    expect(page.locator(".chip").nth(2)).to_contain_text("cat")  # not the first text's chip
    painted(page)
    page.locator(".chip").nth(2).press("]")
    expect(page).to_have_url(re.compile("head="))
    head = page.locator("[data-painted]").first.get_attribute("data-painted")
    page.reload()
    expect(page.locator("[data-painted]").first).to_have_attribute("data-painted", str(head), timeout=PATIENCE)
    page.go_back()
    expect(page.locator("#about")).to_contain_text(FAMOUS.texts[0])


def test_tokens_merge_to_words_and_back(page: Page, site: str) -> None:
    page.goto(site)
    page.get_by_role("button", name=CAT, exact=True).click()
    painted(page)
    expect(page.locator("#caption")).to_have_text(CAPTION)
    trace = LocalBackend().trace(TraceRequest(text=CAT))
    tokens, words = View(trace), View(trace, words=True)
    assert len(words.queries) < len(tokens.queries)
    last = len(words.queries) - 2  # the full stop
    page.locator(".words").click()
    expect(page.locator(".chip")).to_have_count(len(words.queries))
    page.locator(".chip").nth(last).click()
    expect(page).to_have_url(re.compile(f"focus={last}&"))
    page.locator(".words").click()
    expect(page.locator(".chip")).to_have_count(len(tokens.queries))
    expect(page).to_have_url(re.compile(f"focus={words.queries[last].pieces[0]}&"))


def test_another_language_keeps_the_selection(page: Page, site: str) -> None:
    page.goto(site)
    painted(page)
    page.locator(".chip").nth(2).press("]")
    expect(page).to_have_url(re.compile("head="))
    painted(page)
    said = page.locator(".hl").inner_text()
    painted_as = str(page.locator("[data-painted]").first.get_attribute("data-painted")).split("|")[1:]
    page.get_by_role("button", name="中文").click()
    expect(page.locator(".hl")).not_to_have_text(said)
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    for _visit in range(2):
        expect(page.locator("[data-painted]").first).to_have_attribute(
            "data-painted", re.compile(re.escape("|".join(["", *painted_as]))), timeout=PATIENCE
        )
        assert accessibility(page) == []
        page.reload()
    page.goto(site)  # without the address, the browser remembers the language
    expect(page.locator("html")).to_have_attribute("lang", "zh")


def test_a_picture_is_drawn_and_its_link_restores_it(page: Page, site: str) -> None:
    page.goto(site)
    page.get_by_role("button", name="noise", exact=True).click()
    drawn = page.locator(".picture[data-painted]")
    expect(drawn).to_be_visible(timeout=PATIENCE)
    assert accessibility(page) == []
    page.locator(".picture .chip").last.click()
    page.locator(".picture select").last.select_option(index=2)
    expect(drawn).to_have_attribute("data-painted", re.compile(r"\|2\|out\|rollout$"))
    expect(page).to_have_url(re.compile("token=2&facing=out&by=rollout"))
    page.reload()
    expect(drawn).to_have_attribute("data-painted", re.compile(r"\|2\|out\|rollout$"), timeout=PATIENCE)
    page.get_by_role("button", name=CAT, exact=True).click()
    expect(page.locator(".chip")).not_to_have_count(0)
    expect(page.locator(".picture")).to_have_count(0)


def test_a_lesson_is_answered_and_kept(page: Page, site: str) -> None:
    page.goto(site)
    page.locator("#texts button").last.click()
    expect(page.locator("#lesson article")).to_have_count(2)
    assert accessibility(page) == []
    page.locator("#lesson article button").first.click()
    expect(page).to_have_url(re.compile("lesson=attention&step=1"))
    painted(page)
    page.locator("#lesson .bar button").nth(1).click()
    question = page.locator(".question")
    question.get_by_role("textbox").fill("4")
    check = question.locator("button.main")
    check.click()
    reveal = page.locator(".question button").last
    expect(reveal).to_have_text(re.compile("answer"))
    question.get_by_role("textbox").fill("5")
    check.click()
    expect(question).to_contain_text("2 × 2 + 1 × 1 = 5")
    page.reload()
    expect(question.get_by_role("textbox")).to_have_value("5")
    expect(question).to_contain_text("2 × 2 + 1 × 1 = 5")
    expect(page.locator("#worksheet summary")).to_contain_text("1")
    page.get_by_role("button", name="中文").click()
    expect(page.locator("#lesson math").first).to_be_visible()
    expect(page).to_have_url(re.compile("lang=zh&lesson=attention&step=2"))
    assert accessibility(page) == []


def test_a_lesson_withholds_results_until_the_first_answer(page: Page, site: str) -> None:
    page.goto(f"{site}#lesson=attention&step=6")
    painted(page)
    token = page.locator(".question select")
    expect(page.locator(".question")).to_be_visible()
    weight = f"{View(LocalBackend().trace(TraceRequest(text=FAMOUS.texts[0]))).rows(10)[3, 1].max():.0%}"
    expect(page.locator(".hl")).not_to_contain_text(weight)
    page.locator(".chip").nth(2).click()  # the view is a way to answer
    expect(token).to_have_value("2")
    page.locator(".question button.main").click()
    expect(page.locator(".question [role=status]")).to_contain_text("67.7%")
    page.locator(".chip").nth(10).click()
    expect(page.locator(".hl")).to_contain_text(weight)


def test_a_head_question_follows_the_view(page: Page, site: str) -> None:
    page.goto(f"{site}#lesson=attention&step=9")
    painted(page)
    for _step in range(11):
        page.locator(".chip").first.press("[")
    layer, head = page.locator(".question select").all()
    expect(layer).to_have_value("2")
    expect(head).to_have_value("2")
    page.locator(".chip").nth(5).click()
    strongest = page.locator(".strongest:visible")
    expect(strongest).to_have_count(0)
    page.locator(".question button.main").click()
    expect(page.locator(".question [role=status]")).not_to_be_empty()
    expect(strongest).to_have_count(1)


def test_a_step_that_needs_the_app_says_so(page: Page, site: str) -> None:
    page.goto(f"{site}#lesson=attention&step=4")
    expect(page.locator("#lesson")).to_contain_text("/by_hand?numbers=")
    page.goto(f"{site}#lesson=translation&step=2")
    expect(page.locator("#view .sheet")).to_be_visible()
    expect(page.locator("#lesson")).to_contain_text("noir")
    assert accessibility(page) == []


def test_an_opened_site_opens_without_a_network(browser: Browser, site: str) -> None:
    with browser.new_context() as context:  # the contexts of other tests have no service workers
        page = context.new_page()
        page.goto(site)
        painted(page)
        page.evaluate("() => navigator.serviceWorker.ready.then(() => null)")
        context.set_offline(True)
        page.reload()
        painted(page)
        page.locator("#variants").get_by_role("button", name=FAMOUS.words[1]).click()
        expect(page.locator("#about")).to_contain_text(FAMOUS.texts[1])


def test_a_missing_text_gives_a_sentence(page: Page, site: str, problems: Problems) -> None:
    problems.allow("404")
    page.route("**/texts/*", lambda route: route.fulfill(status=404))
    page.goto(site)
    expect(page.get_by_role("alert")).to_contain_text("404")
