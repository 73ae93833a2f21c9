"""Invalid links to the "Masked words" page, and their messages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.asking import allowed, asked, says, stands
from tests.support.cases import loop_over
from tests.support.predictors import BARE
from tests.support.tinyheads import save

TEXT = "The animal was in the street."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("predictors")
    folder = save(root / "tiny-bert", "BERT", head=2)
    with allowed(root):
        yield str(folder)


@pytest.mark.slow
@loop_over(
    ("query", "said"),
    [
        ({"text": "[MASK] " * 30}, "30 tokens are hidden; the limit is 20"),
        ({"text": "a " * 60}, "62 tokens; tiny-bert reads at most 40"),
        ({"text": " "}, "The text is empty"),
        ({"model": "openai-community/gpt2"}, "GPT-2 has no masked-word head"),
        ({"speaker": "nobody", "model": BARE}, "not on this machine; another model answers"),
        ({"hidden": "9:1-2;DROP", "of": "x"}, "The original"),
        ({"show": "<b>"}, "“show” is not valid"),
    ],
)
def test_odd_links(model: str, query: dict[str, str], said: str) -> None:
    page = asked("masked_words", **{"model": model, "text": TEXT, **query})
    says(page, said)
    stands(page)
