"""The teacher's page names the models of its numbers, and is saved as a page to print."""

from __future__ import annotations

import pytest

from inference import EMBEDDED
from tests.support.asking import asked
from tests.support.savedfiles import Saved


@pytest.mark.slow
def test_the_key_names_its_model_and_is_saved_with_its_answers(saved: Saved) -> None:
    page = asked("lessons", lesson="attention", show="teacher")
    assert not page.exception
    assert any(EMBEDDED in one.value.replace("\\", "") for one in page.markdown)
    paper = saved(page, "Page to print")
    assert "<blockquote>animal" in paper
    assert paper.count("<h2>") == len(page.subheader)
    assert "print()" in paper


def test_a_step_says_that_other_models_give_other_numbers() -> None:
    page = asked("lessons", lesson="attention", step=5)
    (caption,) = (one for one in page.caption if EMBEDDED in one.value.replace("\\", ""))
    assert caption.help
