"""Links to the page "Side by side": sentences compared with independent computations, and refusals."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from attention.edits import Ablate
from attention.trace import Trace
from inference import EMBEDDED, LocalBackend, TraceRequest
from inference.files.embedded import BERT, TRANSLATOR
from tests.support.asking import asked, notes, says, stands
from ui.show.text import format_small

TIRED = "The animal didn't cross the street because it was too tired."
WIDE = TIRED.replace("tired", "wide")
EXHAUSTED = "The very old animal didn't traverse the street because it was exhausted."
IT, ANIMAL = 10, 2  # These are token positions.


@pytest.fixture(scope="module")
def backend() -> LocalBackend:
    return LocalBackend()


def changed(left: Trace, right: Trace) -> np.ndarray:
    """Return each head's mean Jensen–Shannon divergence in bits, by SciPy.

    Both texts have equally many tokens.
    """
    return np.array(
        [
            [
                np.mean(jensenshannon(left.weights(layer, head), right.weights(layer, head), base=2, axis=1) ** 2)
                for head in range(left.heads)
            ]
            for layer in range(left.layers)
        ]
    )


def most(bits: np.ndarray) -> tuple[int, int]:
    layer, head = np.unravel_index(int(bits.argmax()), bits.shape)
    return int(layer), int(head)


@pytest.mark.slow
def test_the_famous_pair_is_told_by_the_models_own_numbers(backend: LocalBackend) -> None:
    tired, wide = backend.traces([TraceRequest(text=text) for text in (TIRED, WIDE)])
    weights = [trace.weights(3, 1)[IT, ANIMAL] for trace in (tired, wide)]
    bits = changed(tired, wide)
    layer, head = most(bits)
    page = asked("compare", model=EMBEDDED, layer=3, head=1)
    says(page, f"In head 3-1, “it” gives “animal” {weights[0]:.0%} with “tired” and {weights[1]:.0%} with “wide”.")
    says(page, f"head {layer}-{head} of 72 changes most: {format_small(bits.max())} bits")
    says(page, f"Head 3-1 changes by {format_small(bits[3, 1])}")
    stands(page)


@pytest.mark.slow
def test_two_models_by_the_same_head_and_by_the_head_most_like_it(backend: LocalBackend) -> None:
    base, trained = (backend.trace(TraceRequest(text=TIRED, model=name)) for name in (EMBEDDED, BERT))
    weights = [trace.weights(3, 1)[IT, ANIMAL] for trace in (base, trained)]
    layer, head = most(changed(base, trained))
    view = {"model": EMBEDDED, "differs": "model", "beside": BERT, "layer": 3, "head": 1}
    page = asked("compare", **view)
    says(page, f"In head 3-1, “it” gives “animal” {weights[0]:.0%} in {EMBEDDED} and {weights[1]:.0%} in {BERT}.")
    says(page, f"head {layer}-{head} of 72 changes most")
    page = asked("compare", **view, heads="best")
    both = f"{weights[0]:.0%} in head 3-1 of {EMBEDDED} and {weights[1]:.0%} in head 3-1 of {BERT}."
    says(page, f"{both} Head 3-1 is the most similar on 60 sentences")
    stands(page)


@pytest.mark.slow
def test_models_of_other_shapes_are_compared_by_the_heads_most_alike() -> None:
    page = asked("compare", differs="model", beside=TRANSLATOR, layer=3, head=1)
    says(page, f"{BERT} has 6 × 12 layers × heads, {TRANSLATOR} has 3 × 8")
    says(page, "on 60 sentences")
    says(page, "In head 3-1, they")
    stands(page)


@pytest.mark.slow
def test_heads_removed_change_what_later_heads_do_and_nothing_removed_changes_none(backend: LocalBackend) -> None:
    before = backend.trace(TraceRequest(text=TIRED))
    after = backend.trace(TraceRequest(text=TIRED, edits=(Ablate(1, 0),)))
    layer, head = most(changed(before, after))
    assert layer > 1
    page = asked("compare", model=EMBEDDED, differs="edit", edits="a1-0", layer=3, head=1)
    weights = [trace.weights(3, 1)[IT, ANIMAL] for trace in (before, after)]
    says(page, f"“it” gives “animal” {weights[0]:.0%} without ablation and {weights[1]:.0%} with head 1-0 ablated.")
    says(page, f"head {layer}-{head} of 72 changes most")
    says(asked("compare", differs="edit", edits="-"), "72 heads changes.")


@pytest.mark.slow
def test_words_of_one_reading_only_are_named_and_left_out(backend: LocalBackend) -> None:
    tired, other = backend.traces([TraceRequest(text=text) for text in (TIRED, EXHAUSTED)])
    page = asked("compare", model=EMBEDDED, other=EXHAUSTED, layer=3, head=1)
    weights = tired.weights(3, 1)[IT, ANIMAL], other.weights(3, 1)[12, 4]
    says(page, f"“it” gives “animal” {weights[0]:.0%} in the first text and {weights[1]:.0%} in the second.")
    shared = [at for at in range(16) if at not in (12, 13)]  # These are all tokens except "too tired".
    lost = tired.weights(3, 1)[np.ix_(shared, [12, 13])].sum(axis=1).mean()
    says(page, f"they give the other words, “too”, “tired”, “very”, “old”, “exhausted”, on average {lost:.0%} of their")
    says(asked("compare", other=EXHAUSTED, focus=12), "lacks “too”")
    says(asked("compare", other=EXHAUSTED, focus=IT, to=12), "lacks “too”")


@pytest.mark.slow
def test_texts_without_a_shared_word_name_the_compared_tokens() -> None:
    page = asked("compare", model=EMBEDDED, other="Completely different words appear here today", layer=3, head=1)
    said = " ".join(notes(page))
    assert "The texts share no words. Compared rows: [CLS], [SEP]. In head 3-1, “it” gives “animal”" in said
    assert "the other words" not in said


@pytest.mark.slow
def test_both_texts_are_named_by_their_word_in_chinese() -> None:
    page = asked("compare", model=EMBEDDED, lang="zh")
    assert re.search("“tired”时为 .*，“wide”时为", " ".join(notes(page)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"text": "Hello there", "differs": "text"}, "Type a second text"),
        ({"text": "Hello there"}, "Type a second text"),
        ({"text": "Hello there", "edits": "a1-0"}, "with head 1-0 ablated"),
        ({"text": "Hello there", "other": "One two three", "special": 0}, "share no words"),
        ({"differs": "edit", "edits": "a9-0"}, "6 layers of 12 heads"),
        (
            {"model": TRANSLATOR, "part": "cross", "differs": "model", "beside": EMBEDDED},
            f"{TRANSLATOR} shows cross attention; {EMBEDDED} has only encoder",
        ),
        ({"text": "one two three " * 30, "other": "one two four " * 30}, "48 × 48 of"),
        ({"opened": "file-0"}, " memory; "),
    ],
    ids=[
        "no second text",
        "nothing asked",
        "an ablation",
        "nothing in common",
        "no such head",
        "other parts",
        "long",
        "opened",
    ],
)
def test_what_the_page_says_instead(query: dict[str, object], said: str) -> None:
    page = asked("compare", **query)
    says(page, said)
    stands(page)


@pytest.mark.slow
def test_two_translations_are_compared_in_every_part() -> None:
    for part in ("encoder", "decoder", "cross"):
        page = asked("compare", model="headlight-en-fr", part=part, text="The cat sleeps.", other="The dog sleeps.")
        assert notes(page, "refusal") == []
        says(page, "of 24 changes")
        stands(page)
