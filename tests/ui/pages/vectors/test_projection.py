"""Word vectors without a browser: the minimum number of points for UMAP, and words that the model does not know."""

from __future__ import annotations

import re

import pytest

from tests.support.asking import asked, notes, says


@pytest.mark.slow
def test_umap_of_a_few_tokens_is_not_drawn() -> None:
    says(asked("vectors", flat="umap"), "here are 16.")


def most_similar(**query: object) -> tuple[str, ...]:
    """Return the word in focus and the word most similar to it, as the page names them."""
    page = asked("vectors", text="The cat said 你 to the dog and 好 to me.", words=1, **query)
    found = re.search("“([^”]*)” is most similar to “([^”]*)”", " ".join(notes(page)))
    assert found is not None
    return found.groups()


@pytest.mark.slow
def test_words_that_the_model_does_not_know_are_named_as_its_unknown_token() -> None:
    assert not any("UNK" in name for name in most_similar())  # an unknown word is not the focus by default
    assert most_similar(focus=4) == ("你 = [UNK]", "好 = [UNK]")
