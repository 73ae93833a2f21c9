"""Browser tests of the Vectors page: displayed and downloaded vectors match the model's."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from attention.vectors import along_levels, cosine, different_words, pca
from inference import LocalBackend
from inference.tasks.hidden_states import HiddenStates, Pooled
from tests.support.asking import plain_numbers
from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import Problems
from tests.support.savedfiles import text_of
from tests.support.visitor import DEEP_LINK, file_of, open_page, says
from ui.pages.vectors.options import VectorsOptions

FAMOUS = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def backend() -> LocalBackend:
    return LocalBackend()


@pytest.fixture(autouse=True)
def deep_link(problems: Problems) -> None:
    problems.allow(DEEP_LINK)


def note(page: Page, pattern: str) -> str:
    """Return the text of the note that matches ``pattern``."""
    return says(page, re.compile(pattern))


def charts(page: Page, count: int) -> None:
    """Wait until the first ``count`` figures are drawn, because late figures move the elements below them."""
    for at in range(count):
        expect(page.locator(".js-plotly-plot").nth(at).locator(".main-svg").first).to_be_visible(timeout=3 * PATIENCE)


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.\d\d", plain_numbers(text))]


def fetched(page: Page, name: str) -> bytes:
    """Return the content of the file that the button ``name`` downloads."""
    download = file_of(page.get_by_role("button", name=name, exact=True))
    return download.path().read_bytes()


def test_the_sentence_says_what_the_vectors_say_which_are_fetched_as_they_are(
    page: Page, app_url: str, backend: LocalBackend
) -> None:
    open_page(page, app_url, "/vectors", text=FAMOUS)
    states = backend.inspect(HiddenStates(text=FAMOUS))
    likeness = cosine(states.levels[-1], states.levels[-1])
    it = states.row.pieces.index("it")
    others = np.delete(likeness[it], it)
    pairs = likeness[np.triu_indices(len(likeness), 1)]
    said = note(page, "is most similar to")
    assert "“it” is most similar to “[SEP]”" in said
    assert numbers(said) == pytest.approx([others.max(), others.min(), pairs.mean()], abs=0.006)
    charts(page, 2)
    kept = pca(states.levels[-1], 2).shares.sum()
    assert f"explain {kept:.0%} of" in note(page, "the variance")
    click(page.get_by_text("Vector values"))
    expect(page.get_by_role("button", name="NumPy", exact=True)).to_be_visible(timeout=PATIENCE)
    archive = np.load(io.BytesIO(fetched(page, "NumPy")))
    np.testing.assert_allclose(archive["values"], states.levels[-1], atol=1e-5)
    assert (str(archive["text"]), archive["names"].tolist()) == (FAMOUS, list(states.row.labels))
    table = text_of(fetched(page, "CSV (zip)")).splitlines()
    assert len(table) == 1 + len(states.row)
    assert [float(cell) for cell in table[1].split(",")[1:]] == pytest.approx(states.levels[-1][0].tolist(), abs=1e-5)


# Sizes in pixels of all digits in the cells, and of those that are shown.
DIGITS = """() => {
  const texts = [...document.querySelectorAll(".heatmap-label text")].filter((text) => /\\d/.test(text.textContent))
  const size = (text) => parseFloat(getComputedStyle(text).fontSize)
  const shown = texts.filter((text) => text.getBoundingClientRect().width > 0)
  return [texts.map(size), shown.map(size)]
}"""


@pytest.mark.parametrize(("width", "legible"), [(1440, True), (390, False)])
def test_digits_under_seven_pixels_are_left_out(page: Page, app_url: str, width: int, legible: bool) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, app_url, "/vectors")
    charts(page, 1)
    rest(page)
    sizes, shown = page.evaluate(DIGITS)
    assert len(sizes) == 16 * 16
    assert (min(sizes) >= 7) == legible
    assert len(shown) == (len(sizes) if legible else 0)


def test_another_layer_and_word_are_in_the_link(page: Page, app_url: str, backend: LocalBackend) -> None:
    open_page(page, app_url, "/vectors", mix="level", level=2, special=0, focus=2)
    states = backend.inspect(HiddenStates(text=FAMOUS))
    level = states.levels[2][1:-1]
    likeness = cosine(level, level)
    animal = list(states.row.pieces[1:-1]).index("animal")
    said = note(page, "After layer 1: “animal” is most similar to")
    assert numbers(said)[0] == pytest.approx(np.delete(likeness[animal], animal).max(), abs=0.006)
    click(page.get_by_role("button", name="street").first)
    note(page, "After layer 1: “street” is most similar to")
    expect(page).to_have_url(re.compile(f"focus={states.row.pieces.index('street')}"))
    click(page.get_by_role("combobox", name="Layers"))
    page.get_by_role("option", name="Embeddings").click()
    note(page, "Embeddings: “street” is most similar to")
    expect(page).to_have_url(re.compile("mix=level"))


def test_one_word_in_several_contexts(page: Page, app_url: str, backend: LocalBackend) -> None:
    open_page(page, app_url, "/vectors", show="contexts")
    plain = VectorsOptions()
    read = [backend.inspect(HiddenStates(text=text)) for text in (plain.first, plain.second, plain.third)]
    bank = [states.levels[:, states.row.pieces.index("bank")] for states in read]
    ends = [along_levels(bank[a], bank[b])[-1] for a, b in ((0, 1), (0, 2), (1, 2))]
    words = np.concatenate([states.levels[:, 1:-1] for states in read], axis=1)
    names = [piece for states in read for piece in states.row.pieces[1:-1]]
    said = note(page, "cosine of “bank”")
    assert numbers(said)[:4] == pytest.approx([*ends, different_words(words, names)[-1]], abs=0.006)
    charts(page, 1)
    page.get_by_role("textbox", name="Sentence 1").fill("Nothing in common whatsoever!")
    page.get_by_role("textbox", name="Sentence 1").press("Enter")
    said = note(page, r"“bank”: \d\.\d\d in sentences 2 and 3")
    assert numbers(said)[0] == pytest.approx(ends[2], abs=0.006)
    expect(page).to_have_url(re.compile("first=Nothing"))


def test_sentences_and_the_nearest_one(page: Page, app_url: str, backend: LocalBackend) -> None:
    open_page(page, app_url, "/vectors", show="sentences")
    texts = tuple(VectorsOptions().lines.split("\n"))
    vectors = backend.inspect(Pooled(texts=texts)).vectors
    wanted = backend.inspect(Pooled(texts=("The guitar sounds fine.",))).vectors
    page.get_by_role("textbox", name="Nearest to").fill("The guitar sounds fine.")
    page.get_by_role("textbox", name="Nearest to").press("Enter")
    said = note(page, "sentences to “The guitar")
    likeness = cosine(vectors, wanted)[:, 0]
    assert texts[likeness.argmax()] in said
    assert numbers(said) == pytest.approx([likeness.max()], abs=0.006)
    pairs = cosine(vectors, vectors)[np.triu_indices(len(texts), 1)]
    assert numbers(note(page, "Most similar:")) == pytest.approx([pairs.max(), pairs.mean()], abs=0.006)


def test_a_file_becomes_vectors_that_can_be_taken_away_and_a_hostile_one_is_shown_as_text(
    page: Page, app_url: str, backend: LocalBackend
) -> None:
    texts = [f"Sentence {at} is about {'cats' if at % 2 else 'the stock market'}." for at in range(300)]
    table = "id,text\n" + "".join(f"{at},{text}\n" for at, text in enumerate(texts))
    open_page(page, app_url, "/vectors", show="sentences", bring="file")
    upload = page.locator("input[type=file][accept*=csv]")
    name = "<img src=x onerror=alert(1)>"
    upload.set_input_files({"name": f"{name}.csv", "mimeType": "text/plain", "buffer": f"{name},b\n1,2\n".encode()})
    note(page, re.escape("columns “<img src=x"))
    upload.set_input_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": table.encode()})
    click(page.get_by_role("button", name="Compute 300 vectors"))
    note(page, "of 300 sentences to ")
    link = page.get_by_role("link", name="NumPy")
    answer = page.request.get(app_url + str(link.get_attribute("href")))
    found = np.load(io.BytesIO(answer.body()))
    assert found.shape == (300, 384)
    np.testing.assert_allclose(found[:8], backend.inspect(Pooled(texts=tuple(texts[:8]))).vectors, atol=1e-5)
    parquet = page.request.get(app_url + str(page.get_by_role("link", name="Parquet").get_attribute("href")))
    assert parquet.body()[:4] == b"PAR1"


def test_umap_can_be_stopped_and_begun_anew(page: Page, app_url: str) -> None:
    many = "\n".join(f"Line {at} about {'rain' if at % 2 else 'music'}." for at in range(36))
    open_page(page, app_url, "/vectors", flat="umap", show="sentences", lines=many)
    note(page, r"UMAP: \d+ s")
    rest(page)
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_have_count(1)  # The earlier stop button, for the computation of the vectors, must be gone.
    stop.click()
    note(page, "Stopped")
    click(page.get_by_role("button", name="Try again"))
    note(page, r"UMAP: \d+ s|UMAP of 36 ")
    expect(page.locator(".headlight-note").filter(has_text="UMAP of 36 sentences")).to_be_visible(timeout=4 * PATIENCE)
