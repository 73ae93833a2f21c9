"""A visitor on the Masked words page: every number on it is the backend's."""

from __future__ import annotations

import csv
import io
import re
from math import exp
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from attention.surprise import bits, pseudo_perplexity
from inference import TraceRequest
from inference.questions.corruption import Corruption
from inference.questions.importance import Gradients, LeaveOut
from inference.questions.lens import Lens
from inference.questions.masked import MaskedWords
from inference.questions.surprise import Surprise
from tests.support.browser import Problems, click
from tests.support.looks import DESKTOP, accessible_and_fits, each_view, turn
from tests.support.predictors import BARE, Predictor
from tests.support.visitor import DEEP_LINK, file_of, known, open_page, read, stands, table_of
from ui.input.hiding import fingerprint
from ui.pages.masked_words.options import SHOWS
from ui.show.numbers import percent

TEXT = "The animal was in the street."
STREET = (0, 22, 28)
CHART = ".js-plotly-plot .main-svg"


@pytest.fixture(autouse=True)
def deep_links(problems: Problems) -> None:
    problems.allow(DEEP_LINK)


def opened(page: Page, predictor: Predictor, **query: object) -> Page:
    given: dict[str, Any] = {"model": predictor.model, "text": TEXT, **query}
    given = {name: value for name, value in given.items() if value is not None}
    open_page(page, predictor.url, "/masked_words", **given)
    stands(page)
    return page


def says(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.locator(".headlight-note", has_text=text).first).to_be_visible()


def chip(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name="Click a word to hide it").get_by_role("button", name=re.compile(f"^{name}"))


def saved(page: Page, name: str = "Save as CSV") -> list[list[str]]:
    waiting = file_of(page.get_by_role("button", name=name, exact=True))
    with open(waiting.path(), encoding="utf-8-sig", newline="") as stream:
        return list(csv.reader(io.StringIO(table_of(stream.read()))))


def test_a_model_without_the_head_lets_another_one_answer_and_says_so(page: Page, predictor: Predictor) -> None:
    opened(page, predictor, model=BARE, text=None)
    cards = predictor.backend.models()
    first = next(card for card in cards if card.downloaded and "masked" in card.heads)
    says(page, f"MiniLM (embedded) has no head that guesses masked words; on this page {first.title} answers.")
    expect(page.locator(CHART).first).to_be_visible()
    found = predictor.backend.predict(
        MaskedWords(
            model=first.id, text="The animal didn't cross the street because it was too tired.", hidden=((0, 43, 45),)
        )
    )
    says(page, f"puts “{found.blanks[0].guesses[0].piece}” first")
    page.get_by_role("button", name="Use it on every page").click()
    expect(page.locator(".headlight-note", has_text="has no head")).to_have_count(0)


def test_the_guesses_and_words_that_the_reader_asks_about_are_the_backends(page: Page, predictor: Predictor) -> None:
    opened(page, predictor, top=4, ask="cat,playing")
    found = predictor.backend.predict(MaskedWords(model=predictor.model, text=TEXT, hidden=(STREET,), top=4))
    blank = found.blanks[0]
    original = known(blank.original)
    says(page, f"“street”, which stood there, is number {original.rank} of {found.vocabulary}")
    expect(page.locator(CHART).first).to_be_visible()
    labels = page.locator(".js-plotly-plot").first.locator(".ytick text")
    expect(labels).to_have_text([guess.piece for guess in blank.guesses])
    click(page.get_by_text("The same as a table"))
    names, *rows = saved(page)
    assert names == ["blank", "stood there", "rank", "piece", "probability"]
    told = [*blank.guesses, original]
    assert [float(row[-1]) for row in rows] == pytest.approx([guess.probability for guess in told], rel=1e-6)
    asked = MaskedWords(model=predictor.model, text=TEXT, hidden=(STREET,), words=("cat", "playing"))
    cat, playing = predictor.backend.predict(asked).candidates
    _, *rows = saved(page, "Save these as CSV")
    assert [row[0] for row in rows] == ["cat", "playing"]
    assert rows[1][1] == "play …ing"
    assert [float(row[2]) for row in rows] == pytest.approx(
        [exp(known(word.log_probability)) for word in (cat, playing)]
    )
    assert [row[3] for row in rows] == [str(cat.rank), ""]


def test_clicks_hide_and_uncover_live_in_the_link_and_are_forgotten_with_the_text(
    page: Page, predictor: Predictor
) -> None:
    opened(page, predictor)
    expect(chip(page, "street, .*masked$")).to_be_visible()
    chip(page, "animal").click()
    expect(page).to_have_url(re.compile("hidden=0%3A4-10(&|$)"))
    expect(chip(page, "street, Click to hide it$")).to_be_visible()
    chip(page, "street").click()
    expect(page.get_by_role("combobox", name="Blank")).to_be_visible()
    for name in ("animal", "street"):
        chip(page, f"{name}, .*masked$").click()
        expect(chip(page, f"{name}, Click to hide it$")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("No word is hidden. Click a word, or type [MASK]")
    expect(page).to_have_url(re.compile("hidden=-"))
    chip(page, "was").click()
    expect(page).to_have_url(re.compile("hidden=0%3A11-14"))
    page.reload()
    found = predictor.backend.predict(MaskedWords(model=predictor.model, text=TEXT, hidden=((0, 11, 14),)))
    says(page, f"puts “{found.blanks[0].guesses[0].piece}” first")
    chip(page, "animal").click()
    expect(chip(page, "animal, .*masked$")).to_be_visible()
    expect(page.get_by_role("combobox", name="Blank")).to_be_visible()
    read(page, "A cat was it.")
    expect(chip(page, "it, .*masked$")).to_be_visible()
    expect(page.get_by_role("combobox", name="Blank")).to_have_count(0)


def test_a_word_of_several_pieces_is_one_word(page: Page, predictor: Predictor) -> None:
    text = "The cat was playing it."
    opened(page, predictor, text=text, hidden="0:12-19", of=fingerprint(text, ""), ask="it,playing")
    asked = MaskedWords(model=predictor.model, text=text, hidden=((0, 12, 19),), words=("it", "playing"))
    found = predictor.backend.predict(asked)
    playing = percent(exp(known(known(found.hidden[0].original).log_probability)))
    says(page, f"Blanks 1 to 2 hide “playing”: its 2 pieces together have {playing}, each guessed with those before it")
    _, *rows = saved(page, "Save these as CSV")
    assert [float(row[2]) for row in rows] == pytest.approx(
        [exp(known(word.log_probability)) for word in found.candidates]
    )
    assert [row[3] for row in rows] == [str(found.candidates[0].rank), ""]


def test_where_it_looks(page: Page, predictor: Predictor) -> None:
    opened(page, predictor, show="looks", to=2)
    trace = predictor.backend.trace(TraceRequest(predictor.model, "The animal was in the [MASK]."))
    animal = [at for at, word in enumerate(trace.source.words) if word == trace.source.words[2]]
    blank = trace.tokens.index("[MASK]")
    given = trace.rows(blank)[:, :, animal].sum(-1)
    layer, head = np.unravel_index(given.argmax(), given.shape)
    says(page, f"Layer {layer} · head {head}: the blank gives “animal” {given.max():.2f}; more than any other head.")
    link = page.get_by_role("link", name="Look at this text on the Explore page")
    expect(link).to_be_visible()
    link.click()
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("The animal was in the [MASK].")
    expect(page).to_have_url(re.compile(f"focus={blank}"))


def layer_by_layer(page: Page, predictor: Predictor) -> None:
    """What each layer would guess."""
    turn(page, SHOWS["layers"])
    expect(page.locator(CHART).first).to_be_visible()
    names, *rows = saved(page)
    found = predictor.backend.predict(Lens(model=predictor.model, text=TEXT, hidden=(STREET,)))
    assert [row[0] for row in rows] == ["words", "layer 0", "layer 1"]
    assert [float(row[1]) for row in rows] == pytest.approx(found.probabilities[:, 0].tolist(), rel=1e-5)
    assert [int(row[2]) for row in rows] == found.ranks[:, 0].tolist()
    assert names[1] == f"probability of {found.followed[0].piece}"


def words_that_matter(page: Page, predictor: Predictor) -> None:
    """What leaving a word out changes, and what its gradient adds up to."""
    turn(page, SHOWS["words"])
    _, *rows = saved(page)
    given: dict[str, Any] = {"model": predictor.model, "text": TEXT, "hidden": (STREET,)}
    out = predictor.backend.predict(LeaveOut(**given, stop=99))
    parts = [predictor.backend.predict(Gradients(**given, part=part, parts=6)) for part in range(6)]
    values = np.sum([part.values for part in parts], axis=0)
    assert [row[0] for row in rows] == ["".join(out.row.pieces[slice(*run)]) for run in out.runs]
    assert [float(row[1]) for row in rows] == pytest.approx(out.drops.tolist(), abs=1e-5)
    assert [float(row[2]) for row in rows] == pytest.approx([values[slice(*run)].sum() for run in out.runs], abs=1e-5)
    expect(page.get_by_text(f"here {parts[-1].end - parts[0].start:.3f}")).to_be_visible()


def surprise(page: Page, predictor: Predictor) -> None:
    """How little the model expected each word."""
    turn(page, SHOWS["surprise"])
    scores = predictor.backend.predict(Surprise(model=predictor.model, text=TEXT, stop=99))
    says(page, f"pseudo-perplexity is {pseudo_perplexity(scores.log_probabilities):.1f}")
    _, *rows = saved(page)
    assert sum(float(row[3]) for row in rows) == pytest.approx(float(bits(scores.log_probabilities).sum()), rel=1e-4)
    assert sum(int(row[1]) for row in rows) == scores.total


def the_lesson_and_another_sample(page: Page, predictor: Predictor) -> None:
    """What is hidden in training, and another sample of it."""
    turn(page, SHOWS["lesson"])
    for seed in (3, 4):
        found = predictor.backend.predict(Corruption(model=predictor.model, text=TEXT, seed=seed))
        mean = sum(chosen.loss for chosen in found.chosen) / len(found.chosen)
        says(page, f"the loss is {mean:.2f}")
        if seed == 3:
            page.get_by_role("button", name="Draw another sample").click()
    expect(page).to_have_url(re.compile("seed=4"))


def test_each_view_shows_the_backends_numbers(page: Page, predictor: Predictor) -> None:
    opened(page, predictor, show="layers", seed=3)
    layer_by_layer(page, predictor)
    words_that_matter(page, predictor)
    surprise(page, predictor)
    the_lesson_and_another_sample(page, predictor)


def test_two_words_in_two_sentences(page: Page, predictor: Predictor) -> None:
    opened(page, predictor, show="two", first="The [MASK] was it.", second="It was [MASK].", one="cat", other="street")
    says(page, re.compile("In the first sentence “(cat|street)” is"))
    _, *rows = saved(page)
    for row, (sentence, word) in zip(
        rows, [(s, w) for s in ("The [MASK] was it.", "It was [MASK].") for w in ("cat", "street")], strict=True
    ):
        asked = MaskedWords(model=predictor.model, text=sentence, words=(word,))
        [found] = predictor.backend.predict(asked).candidates
        assert row[:2] == [sentence, word]
        assert float(row[2]) == pytest.approx(exp(known(found.log_probability)), rel=1e-5)
    page.get_by_role("textbox", name="The other word").fill("cat")
    page.get_by_role("textbox", name="The other word").press("Enter")
    says(page, "Two different words are compared; type both.")
    page.get_by_role("textbox", name="The other sentence").fill("No blank.")
    page.get_by_role("textbox", name="The other word").fill("it")
    page.get_by_role("textbox", name="The other word").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("No word is hidden")


@pytest.mark.parametrize("viewport", [DESKTOP])
def test_every_view_is_accessible_and_fits(page: Page, predictor: Predictor) -> None:
    opened(page, predictor)
    for _ in each_view(page, SHOWS):
        expect(page.get_by_role("button", name=re.compile("Save as CSV|Draw another|Copy link")).last).to_be_visible()
        expect(page.get_by_text("How to read this")).to_be_visible()
        accessible_and_fits(page)
