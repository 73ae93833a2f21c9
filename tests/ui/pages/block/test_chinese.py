"""The page The block in Chinese: nothing of its own is left in English, and its texts fit the drawing."""

from __future__ import annotations

import unicodedata

import pytest

from i18n import use_language
from tests.support.anatomies import NAMES, built, lengths
from tests.support.asking import asked
from tests.support.words import english
from ui.pages.block.drawing import sentence
from ui.pages.block.explanations import explain_parts
from ui.pages.block.plan import towers
from viz.components.block.layout import LETTER, STRONG, draw


def wide(text: str) -> int:
    """How many letters wide it is; a Chinese one is as wide as two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


@pytest.mark.slow
@pytest.mark.parametrize("fold", ["", "parameters,kinds,activation,cost"])
def test_nothing_of_the_page_is_english(fold: str) -> None:
    page = asked("block", lang="zh", **({"fold": fold} if fold else {}))
    assert not page.exception
    assert set(english(page)) <= set(english(asked("explore", lang="zh")))


@pytest.mark.parametrize("name", NAMES)
def test_every_architecture_is_explained_in_chinese(name: str) -> None:
    build = built(name)
    with use_language("zh"):
        said = explain_parts(build, lengths(build))
        drawn = draw(towers(build, lengths(build)), True)
        assert "个参数。" in sentence(build)
    assert all(one.text.endswith("。") for one in said.values())
    assert next(iter(said)).rsplit(".", 1)[-1].isdigit(), "an attention is explained first"
    for box in (shape for shape in drawn.shapes if shape["kind"] == "box"):
        assert all(wide(line) * STRONG <= box["w"] for line in box["title"])
        assert all(wide(line) * LETTER <= box["w"] for line in box["notes"])
