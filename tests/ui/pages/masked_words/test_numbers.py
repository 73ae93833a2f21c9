"""Numbers on the "Masked words" page, compared with the backend in each view."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import exp
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention.tokens import bits, pseudo_perplexity
from inference import LocalBackend
from inference.task_heads import MASKED, WHAT
from inference.tasks.attribution import Gradients, OcclusionRequest
from inference.tasks.predictions import Corruption, Lens, MaskedWords, SurprisalRequest
from tests.support.asking import allowed, asked, notes, press, says
from tests.support.clicking import address
from tests.support.predictors import BARE
from tests.support.savedfiles import Saved, table
from tests.support.tinyheads import save
from tests.support.visitor import known
from tests.support.words import said
from ui.input.controls import fingerprint
from ui.show.text import likelihood

TEXT = "The animal was in the street."
STREET = (0, 22, 28)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, LocalBackend]]:
    """Yield the path of a model with the masked-language head, and the backend that the pages use."""
    root = tmp_path_factory.mktemp("predictors")
    folder = save(root / "tiny-bert", "BERT", head=2)
    with allowed(root) as backend:
        yield str(folder), backend


@pytest.fixture
def model(pages: tuple[str, LocalBackend]) -> str:
    return pages[0]


@pytest.fixture
def backend(pages: tuple[str, LocalBackend]) -> LocalBackend:
    return pages[1]


def opened(model: str, **query: object) -> AppTest:
    return asked("masked_words", **{"model": model, "text": TEXT, **query})


def typed(page: AppTest, **texts: str) -> None:
    """Fill in the text boxes of these labels and rerun the page."""
    for label, text in texts.items():
        (box,) = (box for box in page.text_input if box.label == label.replace("_", " "))
        box.set_value(text)
    page.run()


@pytest.mark.slow
def test_a_model_without_the_head_lets_another_one_answer_and_says_so(backend: LocalBackend) -> None:
    page = asked("masked_words", model=BARE)
    first = next(card for card in backend.models() if card.downloaded and "masked" in card.heads)
    says(page, f"{WHAT[MASKED]}, so this page uses {first.title}.")
    text = "The animal didn't cross the street because it was too tired."
    found = backend.predict(MaskedWords(model=first.id, text=text, hidden=((0, 43, 45),)))
    says(page, f"predicts “{found.blanks[0].guesses[0].piece}”")
    assert page.get("plotly_chart")
    page.button(key="use_answerer").click().run()
    assert not any("has no head" in note for note in notes(page))


def test_a_word_of_several_pieces_is_one_word(model: str, backend: LocalBackend, saved: Saved) -> None:
    text = "The cat was playing it."
    page = opened(model, text=text, hidden="0:12-19", of=fingerprint(text, ""), ask="it,playing")
    question = MaskedWords(model=model, text=text, hidden=((0, 12, 19),), words=("it", "playing"))
    found = backend.predict(question)
    playing = likelihood(known(known(found.hidden[0].original).log_probability))
    says(page, f"2 tokens of “playing” have probability {playing}")
    _, *rows = table(saved(page, "Save the scores"))
    chances = [exp(known(word.log_probability)) for word in found.candidates]
    assert [float(row[2]) for row in rows] == pytest.approx(chances)
    assert [row[3] for row in rows] == [str(found.candidates[0].rank), ""]


def test_layer_by_layer(model: str, backend: LocalBackend, saved: Saved) -> None:
    """Logit-lens predictions of each layer."""
    page = opened(model, show="layers")
    assert page.get("plotly_chart")
    names, *rows = table(saved(page, "Save as CSV"))
    found = backend.predict(Lens(model=model, text=TEXT, hidden=(STREET,)))
    assert [row[0] for row in rows] == ["words", "layer 0", "layer 1"]
    assert [float(row[1]) for row in rows] == pytest.approx(found.probabilities[:, 0].tolist(), rel=1e-5)
    assert [int(row[2]) for row in rows] == found.ranks[:, 0].tolist()
    assert names[1] == f"probability of {found.followed[0].piece}"


@pytest.mark.slow
def test_words_that_matter(model: str, backend: LocalBackend, saved: Saved) -> None:
    """Occlusion and integrated gradients of each word."""
    page = opened(model, show="words")
    _, *rows = table(saved(page, "Save as CSV"))
    given: dict[str, Any] = {"model": model, "text": TEXT, "hidden": (STREET,)}
    out = backend.predict(OcclusionRequest(**given, stop=99))
    parts = [backend.predict(Gradients(**given, part=part, parts=6)) for part in range(6)]
    values = np.sum([part.values for part in parts], axis=0)
    assert [row[0] for row in rows] == ["".join(out.row.pieces[slice(*run)]) for run in out.runs]
    assert [float(row[1]) for row in rows] == pytest.approx(out.drops.tolist(), abs=1e-5)
    assert [float(row[2]) for row in rows] == pytest.approx([values[slice(*run)].sum() for run in out.runs], abs=1e-5)
    assert any(f"sum to {parts[-1].end - parts[0].start:.3f}" in text for text in said(page))
    word, drop, _ = max(rows, key=lambda row: abs(float(row[1])))
    says(page, f"Masking “{word}” {'lowers' if float(drop) > 0 else 'raises'} the log-probability of “")


def test_how_little_the_model_expected_each_word(model: str, backend: LocalBackend, saved: Saved) -> None:
    page = opened(model, show="surprise")
    scores = backend.predict(SurprisalRequest(model=model, text=TEXT, stop=99))
    says(page, f"pseudo-perplexity is {pseudo_perplexity(scores.log_probabilities):.1f}")
    _, *rows = table(saved(page, "Save as CSV"))
    assert sum(float(row[3]) for row in rows) == pytest.approx(float(bits(scores.log_probabilities).sum()), rel=1e-4)
    assert sum(int(row[1]) for row in rows) == scores.total


def test_what_is_hidden_in_training_and_another_sample_of_it(model: str, backend: LocalBackend) -> None:
    page = opened(model, show="lesson", seed=3)
    for seed in (3, 4):
        found = backend.predict(Corruption(model=model, text=TEXT, seed=seed))
        mean = sum(chosen.loss for chosen in found.chosen) / len(found.chosen)
        says(page, f"mean loss {mean:.2f}")
        if seed == 3:
            press(page, "Draw another sample")
    assert address(page)["seed"] == "4"


def test_two_words_in_two_sentences(model: str, backend: LocalBackend, saved: Saved) -> None:
    sentences, words = ("The [MASK] was it.", "It was [MASK]."), ("cat", "street")
    page = opened(model, show="two", first=sentences[0], second=sentences[1], one=words[0], other=words[1])
    assert any(re.search("“(cat|street)” is [0-9.,]+ times", note) for note in notes(page)), notes(page)
    _, *rows = table(saved(page, "Save as CSV"))
    for row, (sentence, word) in zip(rows, [(s, w) for s in sentences for w in words], strict=True):
        [found] = backend.predict(MaskedWords(model=model, text=sentence, words=(word,))).candidates
        assert row[:2] == [sentence, word]
        assert float(row[2]) == pytest.approx(exp(known(found.log_probability)), rel=1e-5)
    typed(page, The_other_word="cat")
    says(page, "different words")
    typed(page, The_other_sentence="No blank.", The_other_word="it")
    assert any("No word is hidden" in note for note in notes(page, "refusal")), notes(page, "refusal")
