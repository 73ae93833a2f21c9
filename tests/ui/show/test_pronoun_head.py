"""The pronoun head on Explore and on the tab of links: its score, and the button that selects it."""

from __future__ import annotations

import re

import pytest

from attention.head_search import LEAST
from attention.trace import ModelId
from attention.view import View
from inference import TraceRequest
from inference.files.embedded import BERT
from probing.pronoun_heads import stored_pronoun_head
from tests.support.asking import asked, notes
from ui.run.head_answers import Words, ask_heads
from ui.run.services import get_backend
from ui.show.pronoun_head import KEY, describe_pronoun_head, describe_pronoun_links
from ui.state.view_state import ViewState


@pytest.mark.slow
@pytest.mark.parametrize("view", ["explore", "find"])
def test_the_stored_head_is_shown_and_selected_by_its_button(view: str) -> None:
    page = asked(view, model="headlight-bert")
    found = stored_pronoun_head(get_backend().identity("headlight-bert"))
    assert found is not None
    assert describe_pronoun_head(found, (3, 1)) in [caption.value for caption in page.caption]
    page.button(KEY).click().run()
    assert (page.query_params["layer"], page.query_params["head"]) == ("1", "3")


def test_another_head_is_scored_on_the_same_links() -> None:
    found = stored_pronoun_head(get_backend().identity("headlight-bert"))
    assert found is not None
    alone, beside = describe_pronoun_head(found), describe_pronoun_head(found, (3, 1))
    added = beside.removeprefix(alone)
    assert [int(number) for number in re.findall(r"\d+", added)] == [3, 1, 100 * found.hits[3][1] // found.links]
    assert describe_pronoun_head(found, (found.layer, found.head)) == alone
    assert describe_pronoun_head(found, (len(found.hits), 0)) == alone


@pytest.mark.parametrize("query", [{"text": "The cat sat on the mat."}, {"pair": "It ran."}])
def test_without_a_pronoun_in_a_single_text_it_is_hidden(query: dict[str, str]) -> None:
    page = asked("explore", model="headlight-bert", **query)
    assert KEY not in [button.key for button in page.button]


def test_an_unknown_model_has_no_pronoun_head() -> None:
    assert stored_pronoun_head(ModelId("headlight-bert", None, "encoder", "BertModel")) is None


OWN = "Maria told Anna that she had won, and her dog saw it."


@pytest.mark.slow
def test_each_linking_head_counts_for_its_strongest_noun() -> None:
    choice = ViewState(text=OWN)
    for words in (False, True):
        view = View(get_backend().trace(TraceRequest(choice.model, OWN)), words=words)
        texts = [cell.text for cell in view.keys]
        maria, anna, she = (texts.index(word) for word in ("maria", "anna", "she"))
        answers = ask_heads(view, Words(she, maria, anna), False, choice)
        linking = answers.strengths.max(axis=0) > LEAST
        to_maria, to_anna = ((answers.strengths.argmax(axis=0) == at)[linking].sum() for at in (0, 1))
        assert to_maria != to_anna
        counted = re.findall(r"(\d+) \w+ “(\w+)”", describe_pronoun_links(choice, view) or "")
        assert sorted(counted) == sorted([(str(to_maria), "Maria"), (str(to_anna), "Anna")])
    many = "The cat, the dog, the bird, the horse and the cow left because it rained."
    said = describe_pronoun_links(choice, View(get_backend().trace(TraceRequest(choice.model, many)))) or ""
    counts = [int(count) for count in re.findall(r"(\d+)", said.partition("(")[2].partition(")")[0])]
    assert (len(counts), sum(counts)) == (4, int(said.split()[0])), "three nouns, and the rest"
    page = asked("explore", text=OWN)
    assert any(f"{linking.sum()} of {linking.size} heads" in note for note in notes(page))


def test_without_two_earlier_nouns_no_heads_are_counted() -> None:
    texts = (
        "It rained, and the dog barked.",
        "小猫追老鼠，直到它累了。",
        "The dog saw it.",
        "Suddenly the dog barked because it saw me.",
        "Look at the unbelievably angry dog until it barks.",
        "Dogs barked, and the dogs ran until they slept.",
        "In the sheet, B2 and A1 are empty because it is new.",
    )
    for text in texts:
        view = View(get_backend().trace(TraceRequest(BERT, text)))
        assert describe_pronoun_links(ViewState(text=text), view) is None
