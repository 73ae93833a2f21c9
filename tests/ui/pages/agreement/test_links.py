"""Links to the Agreement page with unsupported queries, and their messages."""

from __future__ import annotations

import pytest

from attention.view import View
from tests.support.asking import asked, notes, says
from tests.support.traces import sentence_trace
from ui.pages.agreement.page import AgreementOptions, words_of


@pytest.mark.slow
@pytest.mark.parametrize(("text", "sentence"), [("word " * 140, "128"), ("Hi", "Three words needed")])
def test_what_cannot_be_asked_is_said(text: str, sentence: str) -> None:
    page = asked("agreement", text=text, focus=1, special=0)
    (refusal,) = notes(page, "refusal")
    assert sentence in refusal


@pytest.mark.slow
def test_a_text_too_long_for_flow_has_the_other_ways() -> None:
    page = asked("agreement", text="one two three four five six seven " * 7, focus=4)
    says(page, " is 48.")
    says(page, "of 6 other")
    assert any(caption.value.startswith("Framed: the ablation effect") for caption in page.caption)


def test_punctuation_and_special_tokens_are_not_words() -> None:
    view = View(sentence_trace(), words=True)
    texts = [cell.text for cell in view.keys]
    assert "." in texts
    assert [texts[at] for at in words_of(view, 1, AgreementOptions())] == [
        text for at, text in enumerate(texts) if at != 1 and text.isalpha()
    ]
