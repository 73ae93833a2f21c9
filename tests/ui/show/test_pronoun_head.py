"""The pronoun head on Explore and on the tab of links: its score, and the button that selects it."""

from __future__ import annotations

import re

import pytest

from attention.trace import ModelId
from probing.pronoun_heads import stored_pronoun_head
from tests.support.asking import asked
from ui.run.services import get_backend
from ui.show.pronoun_head import KEY, describe_pronoun_head


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
