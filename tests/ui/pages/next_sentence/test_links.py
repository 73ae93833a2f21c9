"""Odd links of the Next sentence page are answered in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.asking import allowed, asked, says, stands
from tests.support.tinyheads import save


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("predictors")
    folder = save(root / "tiny-bert", "BERT", head=2)
    with allowed(root):
        yield str(folder)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"text": "a " * 30, "pair": "b " * 30}, "63 tokens; tiny-bert reads at most 40"),
        ({"text": " "}, "The text is empty"),
        ({"looks": "x"}, "“looks” is unknown"),
    ],
)
def test_odd_links(model: str, query: dict[str, str], said: str) -> None:
    page = asked("next_sentence", **{"model": model, "text": "The cat was it.", "pair": "It was playing.", **query})
    says(page, said)
    stands(page)
