"""Notes about a blank: the hidden word is named and scored as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attention.tokens import TokenRow
from inference import LocalBackend
from inference.settings import Settings
from inference.tasks.predictions import MaskedWords, Place, SurprisalRequest
from tests.support.asking import asked
from tests.support.tinyheads import save
from ui.pages.masked_words.guesses import HIGHLIGHT, summary
from ui.pages.masked_words.options import MaskedWordsOptions, after_click, places_of
from ui.run.page_model import PageModel
from ui.show.text import likelihood
from ui.state.view_state import ViewState

TEXT = "We playing it."
PLAYING, IT = (0, 3, 10), (0, 11, 13)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("guesses")
    for name in ("BERT", "RoBERTa"):
        save(root / name, name)
    return root


@pytest.fixture(scope="module")
def backend(root: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(root,), offline=True, cache=root / "cache"))


def said(backend: LocalBackend, root: Path, at: int, *hidden: Place, text: str = TEXT, name: str = "BERT") -> str:
    model = str(root / name)
    found = backend.predict(MaskedWords(model=model, text=text, hidden=hidden))
    return summary(PageModel(model, None, name, "masked", False), found, at)


@pytest.mark.parametrize("at", [0, 1])
def test_a_hidden_word_of_several_pieces_is_named_whole(backend: LocalBackend, root: Path, at: int) -> None:
    words = MaskedWords(model=str(root / "BERT"), text="We [MASK] [MASK].", words=("playing",))
    [playing] = backend.predict(words).candidates
    sentence = said(backend, root, at, PLAYING, IT)
    assert sentence.startswith(f"Blank {at + 1}: BERT predicts “")
    assert playing.log_probability is not None
    chance = likelihood(playing.log_probability)
    assert f"2 tokens of “playing” have probability {chance}" in sentence


def test_words_and_parts_of_one_piece_are_named_as_before(backend: LocalBackend, root: Path) -> None:
    assert "“it”, ranks " in said(backend, root, 2, PLAYING, IT)
    assert "“…ing”, ranks " in said(backend, root, 0, (0, 7, 10))
    assert "ranks" not in said(backend, root, 0, text="We [MASK] it.")


def test_one_blank_may_hide_two_pieces(backend: LocalBackend, root: Path) -> None:
    """A space can be a separate token before a letter; the space has no offset and stays visible."""
    sentence = said(backend, root, 0, (0, 3, 4), text="We z it.", name="RoBERTa")
    assert "2 tokens of “z” have probability" in sentence


def test_a_word_outside_the_vocabulary_is_said_to_have_no_score(backend: LocalBackend, root: Path) -> None:
    save(root / "ALBERT", "ALBERT")
    sentence = said(backend, root, 0, (0, 5, 10), text="A cat play it.", name="ALBERT")
    assert "“play” has no score" in sentence


@pytest.mark.parametrize("typed", ["<mask>", "[MASK]"])
def test_the_models_own_mask_token_is_a_blank_and_nothing_else_is_hidden(
    backend: LocalBackend, root: Path, typed: str
) -> None:
    """The page reads the text first and receives the mask token of the answering model."""
    text = f"A {typed} sat on it."
    read = backend.predict(SurprisalRequest(model=str(root / "RoBERTa"), text=text, stop=0))
    assert read.mask == "<mask>"
    hidden = places_of(ViewState(text=text), MaskedWordsOptions(), read.mask)
    found = backend.predict(MaskedWords(model=str(root / "RoBERTa"), text=text, hidden=hidden))
    assert found.text == "A <mask> sat on it."
    assert [blank.original for blank in found.blanks] == [None]


ROW = TokenRow(("play", "ing", "it"), (1, 2, 3), (0, 0, 1), (0, 0, 0), ((0, 4), (4, 7), (8, 10)))


def test_the_first_click_replaces_the_word_that_was_hidden_by_itself() -> None:
    ours = ((0, 8, 10),)
    assert after_click(ROW, ours, [0, 1], first=True) == ((0, 0, 7),)
    assert after_click(ROW, ours, [0, 1], first=False) == ((0, 0, 7), *ours), "the reader's own stay"
    assert after_click(ROW, ours, [2], first=True) == (), "a click on it uncovers it"


def two_clicks() -> None:
    """Click two words of a text that is not drawn again between the clicks."""
    import streamlit as st

    from attention.tokens import TokenRow
    from inference.tasks.predictions import MaskedWords
    from ui.pages.masked_words.options import STRIP, MaskedWordsOptions, toggle_clicked
    from ui.state.params import get_params
    from ui.state.session import begin, open_view

    row = TokenRow(("playing", "it"), (1, 2), (0, 1), (0, 0), ((0, 7), (8, 10)))
    begin("fill_in_the_blank")
    open_view("masked_words")
    for word in (0, 1):
        st.session_state[STRIP] = {"picked": word}
        toggle_clicked([[0], [1]], row, MaskedWords(model="", text="playing it"))
    st.session_state.kept = get_params(MaskedWordsOptions).hidden


def test_a_click_before_the_text_is_drawn_again_keeps_the_last_word() -> None:
    assert AppTest.from_function(two_clicks).run().session_state.kept == "0:0-7,0:8-10"


@pytest.mark.slow
@pytest.mark.parametrize(("query", "original"), [({"text": "The [MASK] sat."}, False), ({}, True)])
def test_only_a_hidden_word_has_an_original(query: dict[str, str], original: bool) -> None:
    page = asked("masked_words", **query)
    assert any(str(HIGHLIGHT) in caption.value for caption in page.caption) == original
