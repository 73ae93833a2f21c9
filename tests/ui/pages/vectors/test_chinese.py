"""The page Vectors in Chinese: nothing that it says itself is left in English."""

from __future__ import annotations

import pytest

from i18n import use_language
from tests.support.asking import asked, notes
from tests.support.words import english
from ui.pages.vectors.options import VectorsOptions

STATES: list[dict[str, object]] = [
    {},
    {"mix": "level", "level": 2, "words": 0, "flat": "umap"},
    {"text": "Cat", "special": 0},
    {"text": "word " * 60, "axes": 3},
    {"show": "contexts"},
    {"show": "contexts", "second": "-", "third": "-"},
    {"show": "sentences"},
    {"show": "sentences", "pooling": "max", "axes": 3, "lines": "One.\nTwo things."},
    {"show": "sentences", "lines": "word " * 600 + "\nTwo things.\nThree."},
    {"show": "sentences", "lines": ""},
    {"show": "sentences", "bring": "file"},
]
BEGUN = VectorsOptions()
READ = (BEGUN.first, BEGUN.second, BEGUN.third, BEGUN.lines)
FILES = {
    "empty.txt": b" \n",
    "short.csv": b"text\n",
    "numbers.csv": b"a,,b\n1,2,3\n4,5,6\n",
    "texts.csv": b"id,text\n1,A first one.\n2,A second one.\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES, ids=lambda state: str(state)[:60])
def test_all_is_told(state: dict[str, object]) -> None:
    page = asked("vectors", lang="zh", **state)
    assert english(page, *READ, *map(str, state.values())) == []
    assert [title.value for title in page.title] == ["模型如何理解一个词？"]
    assert not page.exception


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_what_is_said_of_a_file_is_told(name: str) -> None:
    page = asked("vectors", lang="zh", show="sentences", bring="file")
    with use_language("zh"):  # AppTest names the options of the page's other controls itself
        page.file_uploader(key="vectors_file").set_value((name, FILES[name], "text/csv")).run()
    assert english(page) == []
    assert not page.exception


def test_the_texts_to_begin_with_are_not_translated() -> None:
    assert type(VectorsOptions().lines) is type(VectorsOptions().first) is str


@pytest.mark.slow
def test_a_word_is_told_from_a_token() -> None:
    assert any("UMAP" in note and "词元" in note for note in notes(asked("vectors", lang="zh", words=0, flat="umap")))
