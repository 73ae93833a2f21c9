"""Links to the "Next sentence" page: messages for invalid links and for omitted texts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from inference.task_heads import NEXT_SENTENCE, WHAT
from tests.support.asking import allowed, asked, notes, press, says, stands, text_of
from tests.support.predictors import BARE
from tests.support.tinyheads import save
from ui.pages.next_sentence.page import EXAMPLE


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
        ({"looks": "x"}, "“looks” is not valid"),
    ],
)
def test_odd_links(model: str, query: dict[str, str], said: str) -> None:
    page = asked("next_sentence", **{"model": model, "text": "The cat was it.", "pair": "It was playing.", **query})
    says(page, said)
    stands(page)


def test_without_a_second_text_an_example_is_judged_and_that_is_said(model: str) -> None:
    page = asked("next_sentence", model=model, text="The cat was it.", pair="")
    for part in ("text", "pair"):
        says(page, EXAMPLE[part])
    says(page, "A, B 0.")
    press(page, "Use the example")
    assert text_of(page) == "The cat sat on the mat."
    assert not any(EXAMPLE["pair"] in note for note in notes(page))


def test_a_model_without_the_head_lets_another_one_answer_and_says_so(model: str) -> None:
    page = asked("next_sentence", model=BARE, text="The cat was it.", pair="It was playing.", speaker=model)
    says(page, f"{BARE} has {WHAT[NEXT_SENTENCE]}")
