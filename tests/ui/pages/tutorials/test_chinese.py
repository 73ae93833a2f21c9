"""What the tutorials say in Chinese: every theme, its claims and its refusals have nothing left in English."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, notes, says
from tests.support.words import english
from ui.pages.tutorials import themes

OWN = ("pages/tutorials.py", "ui/pages/tutorials")
BYTES = "un b el ie v able"
PIECES = "an unbelievable em ##bed ##ding of words"  # which a model makes of a text


@pytest.mark.slow
@pytest.mark.parametrize("theme", list(themes.STATIONS))
def test_a_theme_is_told_in_chinese(theme: str) -> None:
    page = asked("tutorials", lang="zh", theme=theme)
    assert english(page, PIECES, BYTES) == []
    stations = themes.STATIONS[theme]
    assert all(any("\u4e00" <= letter <= "\u9fff" for letter in heading.value) for heading in page.subheader)
    assert len(notes(page)) == sum(station.shows is not None for station in stations)
    assert notes(page, "refusal") == []


@pytest.mark.slow
def test_other_texts_and_shares_are_told_in_chinese() -> None:
    page = asked("tutorials", lang="zh", theme="finetuning", dropped=0, text="The lamp went out.")
    says(page, "次前向计算给出同一个数")
    assert english(page, "The lamp went out.") == []
    pair = "We looked for a candle in the dark."
    page = asked("tutorials", lang="zh", theme="bert", text="The lamp went out.", pair=pair)
    says(page, "你的句对，遮住“")
    assert english(page, "The lamp went out.", pair) == []
