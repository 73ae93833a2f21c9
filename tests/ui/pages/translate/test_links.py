"""Odd links of the Translate page, and what cannot be read, are answered in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.asking import allowed, asked, says, stands, text_of
from tests.support.predictors import BARE
from tests.support.translators import tiny

TEXT = "The animal sat on the mat."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("translators")
    folder = tiny(root / "tiny-marian")
    with allowed(root):
        yield str(folder)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"text": " "}, "The text is empty"),
        ({"text": "a cat " * 60}, "tiny-marian reads at most 64"),
        ({"target": "le chat " * 60}, "tiny-marian writes at most 64"),
        ({"model": "openai-community/gpt2"}, "GPT-2 has no head that writes one text from another"),
        ({"show": "<b>"}, "“show” is unknown"),
        ({"show": "without", "edits": "ax9-0"}, "names a head that is not there"),
        ({"show": "without", "edits": "cx0-0-1-99"}, "names a token that is not there"),
        ({"cross": "99-<b>", "width": "77"}, "cross head"),
        ({"step": "4000"}, "cross head"),
        ({"speaker": "nobody", "model": BARE}, "not on this machine; another one answers"),
    ],
)
def test_odd_links_and_bad_input_are_answered_in_a_sentence(model: str, query: dict[str, str], said: str) -> None:
    page = asked("translate", **{"model": model, "text": TEXT, **query})
    says(page, said)
    stands(page)
    if query.get("text", TEXT).strip():
        assert text_of(page) == query.get("text", TEXT)
