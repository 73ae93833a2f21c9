"""Every view of the page Step by step in Chinese: nothing of its own is left in English."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, notes
from tests.support.words import english


@pytest.mark.slow
@pytest.mark.parametrize("show", ["steps", "neuron", "rules", "heads"])
def test_nothing_of_a_view_is_english(show: str) -> None:
    page = asked("step_by_step", lang="zh", show=show)
    assert not page.exception
    # Explore has what all pages have around them: the text box with its examples, and the sidebar.
    assert set(english(page)) <= set(english(asked("explore", lang="zh")))


@pytest.mark.slow
def test_a_weight_is_told_in_chinese() -> None:
    page = asked("step_by_step", lang="zh", layer=3, head=1)
    assert any("头 3-1" in note and "注意力" in note for note in notes(page))
    assert "1 · 向量输入" in [title.value for title in page.subheader]
