"""The page in Chinese: no English sentence is left on it, whatever it shows or refuses."""

from __future__ import annotations

import pytest

from tests.support.asking import asked
from tests.support.words import english
from ui.pages.find.probes import LIBRARY
from ui.state.examples import EXAMPLES

TEXTS = [
    *(text for example in EXAMPLES for text in (example["text"], example.get("pair", "")) if text),
    *(text for probe in LIBRARY for text in (probe.text, probe.other, *probe.neutral) if text),
]
STATES = {
    "at first": {},
    "the other way round": {"inward": 1},
    "by the weight alone, from 1": {"by": "weight", "count": 1},
    "a text that loses the words": {"other": "Nobody came."},
    "a word that is too many": {"text": "cat", "against": 99, "clicking": "x"},
    "a question in a script that the model cannot read": {"text": LIBRARY[-1].text},
    "no text": {"text": " "},
}


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_no_english_is_left(state: dict[str, object]) -> None:
    page = asked("find", lang="zh", **state)
    assert not page.exception
    assert page.title[0].value == "哪个头把一个词与另一个词联系起来？"
    assert english(page, *TEXTS, "Nobody came.") == []


@pytest.mark.slow
def test_a_ready_question_is_told_and_one_s_own_is_not() -> None:
    page = asked("find", lang="zh")
    options = page.selectbox(key="probe").options
    assert "代词 · it：tired 还是 wide" in options
