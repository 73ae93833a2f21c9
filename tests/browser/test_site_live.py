"""A model that runs in the browser: a static site with --live, behind a plain server, with other hosts blocked."""

from __future__ import annotations

import base64
import itertools
import random
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, JSHandle, Page, Playwright, expect

from attention.edits import Ablate
from attention.view import View
from headlight.command import main
from headlight.site_command import FAMOUS
from inference import LocalBackend, TraceRequest
from inference.files.embedded import BERT
from inference.tasks.predictions import Blank, MaskedWords
from probing.labelled import ready_sets
from tests.support.accessibility import accessibility
from tests.support.atrest import PATIENCE
from tests.support.browser import Problems, Windows, start_browser
from tests.support.statichosts import host_folder
from viz.site_live import LONGEST

MOST_ERROR = 0.002
CAT = "The cat sat on the mat because it was warm."
BLANKS = "The [MASK] sat on the mat because it was [MASK]."
MOUSE = "The mouse sat on the mat because it was warm."
CASES: list[tuple[str, str | None, tuple[tuple[int, int], ...]]] = [
    (FAMOUS.texts[0], None, ()),
    (CAT, "It purred, and slept.", ()),
    ("Ünïcödé 猫, 3.5% of AT&T's (again)!", None, ()),
    ("a", None, ()),
    (CAT, None, ((0, 3), (2, 1))),
    ("the long road " * 30, None, ()),
]
# Opens the model with the scripts of the page.
OPEN = """async ([script, manifest]) => {
  const site = await import(script);
  const about = JSON.parse(new TextDecoder().decode(await site.download(manifest)));
  return { heads: about.heads, model: await site.openModel(about, {}) };
}"""
# Returns all weights of a text as float32 in base64.
WEIGHTS = """async ({ heads, model }, [text, pair, ablated]) => {
  const { maps } = await model.run(model.read(text, pair), ablated.map(([layer, head]) => layer * heads + head));
  const reader = new FileReader();
  await new Promise((done) => {
    reader.onload = done;
    reader.readAsDataURL(new Blob(maps));
  });
  return reader.result.split(",")[1];
}"""
TEXTS, SEED = 200, 0
JOINED = 4  # every fourth text is joined with the next ones
SETS = ("snips-intents", "sentence-polarity", "sib-200-en", "sib-200-zh")


MILK = "The cat drank the milk because it was thirsty."
DOG = "The <b>dog</b> drank the milk because it was thirsty."
LESSON = f"""
title.en = "Who is it?"
minutes = 5
[[step]]
title.en = "Measure"
text.en = "Click a word."
[step.view]
link = "/explore?model=all-MiniLM-L6-v2&text={MILK}&layer=3&head=1"
highlight = ["it", "milk"]
[step.question]
kind = "number"
ask.en = "How much?"
check = {{ name = "weight", layer = 3, head = 1, word = "it", to = "milk" }}
[[step]]
title.en = "Expect"
text.en = "Guess."
[step.view]
link = "/explore?model=all-MiniLM-L6-v2&text={MILK}&layer=3&head=1"
[step.question]
kind = "choice"
ask.en = "Which?"
choices.cat = "the cat"
choices.milk = "the milk"
check = {{ name = "preferred", layer = 3, head = 1, word = "it", to = "cat", over = "milk" }}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root, lesson = tmp_path_factory.mktemp("live"), tmp_path_factory.mktemp("lessons") / "own.toml"
    lesson.write_text(LESSON, encoding="utf-8")
    assert main(["site", str(root), "--live", "--lessons", str(lesson)]) == 0
    return root


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Yield a Chromium that optimises scripts, since the page computes a model for minutes."""
    with start_browser(playwright) as started:
        yield started


@pytest.fixture(scope="module")
def windows(browser: Browser) -> Iterator[Windows]:
    """Yield the source of windows of that Chromium."""
    made = Windows(browser)
    yield made
    made.close()


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    with host_folder(folder) as address:
        yield address


def start(page: Page) -> None:
    """Download the model, and wait for its first text."""
    agree(page, "#live")
    ready(page)


def agree(page: Page, section: str) -> None:
    """Ask for the model of a section, and agree to its download."""
    buttons = page.locator(section).get_by_role("button")
    buttons.click()
    expect(buttons).to_have_count(2)  # before the answer, the only button is that of the first click
    buttons.first.click()


def ready(page: Page) -> None:
    expect(page.locator("#live textarea").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#live > p[role=status]")).not_to_be_empty(timeout=PATIENCE)


def show(page: Page, text: str) -> None:
    page.locator("#live textarea").first.fill(text)
    expect(page.locator(".hl .chip").nth(2)).to_have_text(re.compile(text.split()[1]), timeout=PATIENCE)


@pytest.fixture
def model(page: Page, site: str, folder: Path) -> JSHandle:
    """The live model in the page."""
    page.goto(site)
    [script], [manifest] = folder.glob("site-*.js"), folder.glob("live/model-*.json")
    return page.evaluate_handle(OPEN, [f"{site}{script.name}", f"live/{manifest.name}"])


def largest_difference(model: JSHandle, view: View, *case: object) -> float:
    """Return the largest difference of a weight between the page and a view of the app."""
    weights = np.stack([view.weights(layer, head) for layer, head in np.ndindex(view.layers, view.heads)])
    found = np.frombuffer(base64.b64decode(model.evaluate(WEIGHTS, case)), "<f4")
    return float(np.abs(found.reshape(weights.shape) - weights).max())


def test_every_weight_is_that_of_the_app(model: JSHandle) -> None:
    backend = LocalBackend()
    for text, pair, ablated in CASES:
        edits = tuple(Ablate(layer, head) for layer, head in ablated)
        view = View(backend.trace(TraceRequest(text=text, pair=pair, edits=edits)))
        assert largest_difference(model, view, text, pair, ablated) <= MOST_ERROR, text


@pytest.mark.slow
@pytest.mark.timeout(1200)  # a single thread of the browser computes 200 texts
def test_the_weights_of_200_texts_are_those_of_the_app(model: JSHandle) -> None:
    sizes, largest = [], []
    for view in itertools.islice(seeded_views(), TEXTS):
        sizes.append(len(view.queries))
        largest.append(largest_difference(model, view, view.trace.text, None, ()))
        assert largest[-1] <= MOST_ERROR, view.trace.text
    print(
        f"\n{TEXTS} texts of {min(sizes)} to {max(sizes)} tokens: {max(largest):.5f}, median {np.median(largest):.5f}"
    )
    assert min(sizes) < 8
    assert max(sizes) > 100


def seeded_views() -> Iterator[View]:
    """Yield views of texts of the task sets that have 4 to 128 tokens, in random order."""
    backend = LocalBackend()
    rows = [row.text for name in SETS for row in ready_sets.load(name).test]
    random.Random(SEED).shuffle(rows)
    for at in range(len(rows)):
        text = " ".join(rows[at : at + (JOINED if at % JOINED == 0 else 1)])
        view = View(backend.trace(TraceRequest(text=text)))
        if 4 <= len(view.queries) <= LONGEST:
            yield view


def test_own_texts_run_while_they_are_typed(page: Page, site: str) -> None:
    page.goto(site)
    expect(page.locator("[data-painted]").first).to_be_visible(timeout=PATIENCE)
    start(page)
    difference = re.search(r"0\.\d{4}", page.locator("#live > p[role=status]").inner_text())
    assert difference
    assert float(difference[0]) <= MOST_ERROR
    show(page, CAT)
    page.locator(".chip", has_text="it").first.click()
    page.mouse.move(0, 0)
    expect(page).to_have_url(re.compile("focus=8"))
    show(page, MOUSE)  # an edited word leaves the selection
    expect(page).to_have_url(re.compile("focus=8"))
    layer, head = (int(re.search(rf"{name}=(\d+)", page.url)[1]) for name in ("layer", "head"))  # type: ignore[index]
    row = View(LocalBackend().trace(TraceRequest(text=MOUSE))).rows(8)[layer, head]
    expect(page.locator(".hl")).to_contain_text(re.compile(f"gives ({row.max():.0%}|{row.max():.1%}) of its attention"))
    page.locator("#live textarea").first.fill(" ")
    expect(page.locator("#live [role=alert]")).not_to_be_empty()
    page.locator("#live textarea").first.fill("word " * 200)
    expect(page.locator("#live [role=alert]")).to_contain_text("202")
    show(page, CAT)
    expect(page.locator("#live [role=alert]")).to_be_empty()
    for width, height in ((1440, 900), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        assert accessibility(page) == []


def test_a_link_restores_the_text_and_its_ablation_offline(browser: Browser, site: str) -> None:
    with browser.new_context() as context:  # the contexts of other tests have no service workers
        page = context.new_page()
        page.goto(site)
        start(page)
        show(page, CAT)
        page.locator("#live textarea").nth(1).fill("It slept.")
        expect(page.locator(".chip", has_text="slept")).to_be_visible(timeout=PATIENCE)
        page.locator("#live .own-heads button").first.click()
        expect(page).to_have_url(re.compile("off="), timeout=PATIENCE)
        status = re.sub(r"^\d+", "", page.locator("#live > p[role=status]").inner_text())
        context.set_offline(True)
        page.reload()
        ready(page)
        expect(page.locator("#live textarea").nth(1)).to_have_value("It slept.")
        expect(page.locator("#live > p[role=status]")).to_contain_text(status, timeout=PATIENCE)
        expect(page.locator("#live .own-heads button").first).to_have_attribute("aria-pressed", "true")


def weight(text: str) -> str:
    """Return the weight of the lesson's first question in a text, as the check states it."""
    view = View(LocalBackend().trace(TraceRequest(text=text)))
    labels = [cell.label for cell in view.queries]
    return f"{view.weights(3, 1)[labels.index('it'), labels.index('milk')]:.1%}"


def test_the_view_of_a_lesson_follows_the_readers_text(page: Page, site: str) -> None:
    page.goto(f"{site}#lesson=own&step=1")
    live, status = page.locator("#lesson #live"), page.locator("#live p[role=status]")
    agree(page, "#lesson #live")
    box = live.locator("textarea")
    expect(box).to_have_value(MILK, timeout=PATIENCE)
    box.fill(DOG)
    expect(page.locator(".chip", has_text="dog")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#view b", has_text="dog")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"step=1&own=.*layer=3&head=1&focus=14&target=12"))
    expect(status).not_to_be_empty()
    expect(page.locator(".hl, #live p[role=status]").filter(has_text="%")).to_have_count(0)  # the answer is withheld
    page.locator(".question input").fill("2")
    page.locator(".question button.main").click()
    page.locator(".question button", has_text="answer").click()
    expect(page.locator(".question")).to_contain_text(weight(MILK))
    expect(status).to_contain_text(weight(DOG), timeout=PATIENCE)
    expect(page.locator(".hl")).to_contain_text("%")
    box.fill(DOG.replace("it", "she"))
    expect(page.locator(".chip", has_text="she")).to_be_visible(timeout=PATIENCE)
    expect(status).to_contain_text("“it”")
    expect(page).to_have_url(re.compile("layer=3&head=1"))
    box.fill(" ")
    expect(live.get_by_role("alert")).not_to_be_empty()
    expect(page.locator(".chip", has_text="she")).to_be_visible()
    for width, height in ((1440, 900), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        assert accessibility(page) == []
    box.press("Tab")
    page.keyboard.press("Enter")
    expect(box).to_have_value(MILK)
    expect(page).not_to_have_url(re.compile("own="), timeout=PATIENCE)
    expect(page).to_have_url(re.compile("layer=3&head=1&focus=7&target=5"))
    expect(status).to_be_empty()
    page.goto(f"{site}#lesson=own&step=2")
    expect(page.locator("#live")).to_be_hidden()  # the view opens after the first answer
    page.locator(".question input").first.check()
    page.locator(".question button.main").click()
    expect(box).to_be_visible(timeout=PATIENCE)
    for button in page.locator("#texts button").all()[::-1]:  # the list of lessons, and a text
        button.click()
        expect(page.locator("body > #live textarea").first).to_be_visible()


def test_a_link_restores_the_text_of_a_lesson_offline(browser: Browser, site: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{site}#lesson=own&step=1&own=The+dog+drank+it.")
        agree(page, "#live")
        dog = page.locator(".chip", has_text="dog")
        expect(dog).to_be_visible(timeout=PATIENCE)
        dog.click()
        expect(page).to_have_url(re.compile("focus=2"))
        context.set_offline(True)
        page.reload()
        expect(dog).to_be_visible(timeout=PATIENCE)
        expect(page).to_have_url(re.compile("own=The.*focus=2"))
        expect(page.locator("#lesson #live textarea")).to_have_value("The dog drank it.")


def test_nothing_is_downloaded_unasked(page: Page, site: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site)
    page.locator("#live").get_by_role("button").click()
    expect(page.locator("#live").get_by_role("button")).to_have_count(2)
    page.locator("#live").get_by_role("button").last.click()
    expect(page.locator("#live").get_by_role("button")).to_have_count(1)
    assert not [url for url in asked if "/live/" in url and not url.endswith(".json")]


def test_a_download_can_be_stopped(page: Page, site: str) -> None:
    page.route("**/live/model-*.onnx", lambda _route: None)  # it never arrives
    page.goto(site)
    agree(page, "#live")
    expect(page.locator("#live progress")).to_be_visible()
    page.locator("#live").get_by_role("button").click()
    expect(page.locator("#live progress")).to_have_count(0)
    expect(page.locator("#live").get_by_role("button")).to_have_count(1)


def test_a_missing_file_gives_a_sentence(page: Page, site: str, problems: Problems) -> None:
    problems.allow("404")
    page.route("**/live/model-*.onnx", lambda route: route.fulfill(status=404))
    page.goto(site)
    agree(page, "#live")
    expect(page.locator("#live")).to_contain_text("404")


def test_masked_words_are_those_of_the_app_and_a_link_restores_them_offline(browser: Browser, site: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(site)
        section = page.locator("#masks")
        agree(page, "#masks")
        expect(section.locator("tbody tr")).to_have_count(10, timeout=PATIENCE)
        section.locator("textarea").fill(BLANKS)
        expect(section.locator("table")).to_have_count(2, timeout=PATIENCE)
        for table, blank in zip(section.locator("table").all(), _predicted(BLANKS), strict=True):
            for row, guess in zip(table.locator("tbody tr").all()[:2], blank.guesses, strict=False):
                expect(row.locator("th")).to_have_text(guess.piece)
                assert abs(float(row.locator("td").inner_text().strip("%")) / 100 - guess.probability) <= MOST_ERROR
        assert accessibility(page) == []
        section.locator("textarea").fill("No word of this text.")
        expect(section.locator("[role=alert]")).not_to_be_empty()
        section.locator("button", has_text="text").click()  # mask this word
        expect(section.locator("textarea")).to_have_value("No word of this [MASK].")
        expect(section.locator("table")).to_have_count(1, timeout=PATIENCE)
        expect(section.locator("[role=alert]")).to_be_empty()
        first = section.locator("tbody").inner_text()
        expect(page).to_have_url(re.compile("masked=No"))
        context.set_offline(True)
        page.reload()
        expect(section.locator("tbody tr")).to_have_count(10, timeout=PATIENCE)
        assert section.locator("tbody").inner_text() == first


def _predicted(text: str) -> tuple[Blank, ...]:
    return LocalBackend().predict(MaskedWords(model=BERT, text=text, top=2)).blanks
