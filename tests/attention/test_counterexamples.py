"""Counter-examples agree with the score of the claim, and other sentences differ only as they should."""

from __future__ import annotations

import numpy as np
import pytest

from attention.counterexamples import LinkTest, LinkWords, measure_links, reword, swap_words
from attention.view import View
from inference import LocalBackend, TraceRequest
from inference.tasks.heads import LinksQuestion
from probing.formats import load_ready_set
from probing.pronoun_heads import PRONOUNS


@pytest.mark.slow
def test_a_test_counts_as_the_score_of_the_claim_does() -> None:
    """In every head, the larger weight decides as in `probing score` if each noun is a single token."""
    backend = LocalBackend()
    items = load_ready_set(PRONOUNS).items
    found = backend.inspect(LinksQuestion(items=items)).found[:, 0]  # (link, layer, head), from pronoun to candidate
    traces = backend.traces([TraceRequest(text=item.text) for item in items])
    compared = 0
    for item, trace, hits in zip(items, traces, found, strict=True):
        (link,) = item.links
        view = View(trace, words=True)
        cells = [_cells_of(view, item.units[unit]) for unit in (link.source, link.target, *(link.others or ()))]
        if any(len(one) != 1 or not _is_token(view, one[0]) for one in cells):
            continue  # a candidate of several words is no single cell, and one of several tokens counts otherwise
        right, other = measure_links(view, LinkWords(*(one[0] for one in cells)))
        np.testing.assert_array_equal(right > other, hits)
        compared += 1
    assert compared >= 30


def _is_token(view: View, cell: int) -> bool:
    start, stop = view.keys[cell].pieces
    return stop - start == 1


def _cells_of(view: View, span: tuple[int, int]) -> list[int]:
    spans = view.trace.source.spans
    return [
        at
        for at, cell in enumerate(view.keys)
        if not cell.special and (place := spans[cell.pieces[0]]) is not None and span[0] <= place[0] < span[1]
    ]


@pytest.mark.slow
def test_a_word_of_several_tokens_has_the_sum_of_their_weights() -> None:
    trace = LocalBackend().trace(TraceRequest(text="The anteater bit it."))
    view = View(trace, words=True)
    texts = [cell.text for cell in view.keys]
    long, it, bit = (texts.index(word) for word in ("anteater", "it", "bit"))
    start, stop = view.keys[long].pieces
    assert stop - start > 1
    right = measure_links(view, LinkWords(it, long, bit))[0]
    tokens = View(trace)
    row = view.queries[it].pieces[0]
    expected = [[tokens.weights(layer, head)[row, start:stop].sum() for head in range(12)] for layer in range(6)]
    np.testing.assert_allclose(right, np.array(expected), atol=1e-6)


@pytest.mark.slow
def test_exchanging_the_nouns_exchanges_the_weights() -> None:
    view = View(LocalBackend().trace(TraceRequest(text="The dog saw the cat because it sang.")), words=True)
    one, other = measure_links(view, LinkWords(7, 2, 5)), measure_links(view, LinkWords(7, 5, 2))
    np.testing.assert_array_equal(one, other[::-1])
    assert [LinkTest(*map(float, both[:, 3, 1])).outcome for both in (one, other)] in (
        ["correct", "fooled"],
        ["fooled", "correct"],
        ["undecided", "undecided"],
    )


def test_swapping_twice_gives_the_text_again() -> None:
    text = "The dog chased a cat because it was hungry."
    swapped = swap_words(text, (4, 7), (17, 20))
    assert swapped == "The cat chased a dog because it was hungry."
    assert swap_words(swapped, (4, 7), (17, 20)) == text
    longer = swap_words("A dog saw the elephants.", (2, 5), (14, 23))
    assert longer == "A elephants saw the dog."


def test_rewordings_keep_every_word_of_the_question() -> None:
    text = "The animal didn't cross the street because it was too tired."
    found = reword(text, ["animal", "street"])
    assert len(found) == len(set(found)) == 6
    assert text not in found
    for one in found:
        assert {"animal", "street", "it"} <= set(one.rstrip(".!").split())
    assert reword("", []) == ()
    assert reword("it", ["(", "*"]) == ()
