"""The example question, answered with the numbers of the model, for both measures."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attention.head_search import flips, follows, links, preference
from attention.mask import FloatArray
from attention.view import View
from inference import EMBEDDED, LocalBackend, TraceRequest
from probing.reference_priors import stored_priors
from tests.support.asking import asked, notes
from ui.input.probes import LIBRARY
from ui.show.text import decimals_of_difference, format_strengths, in_points, signed_percent

FAMOUS = LIBRARY[0]


@pytest.fixture(scope="module")
def views() -> list[View]:
    texts = (FAMOUS.text, FAMOUS.other, *FAMOUS.neutral)
    return [View(trace, words=True) for trace in LocalBackend().traces([TraceRequest(text=text) for text in texts])]


def with_numbers(found: list[str], *numbers: object) -> str:
    """Return the only note that contains all these numbers as whole numbers."""
    wanted = {str(number) for number in numbers}
    (note,) = (note for note in found if wanted <= set(re.findall(r"\d+-\d+|\d+\.\d+|\d+%?", note)))
    return note


def at(view: View, word: str) -> int:
    return [cell.text for cell in view.keys].index(word)


def usual(view: View, source: int, key: int) -> FloatArray:
    """Return the mean weight of the other words to ``key``, shape (layer, head), float32."""
    others = [at for at, cell in enumerate(view.queries) if not cell.special and at not in (source, key)]
    maps = [
        [view.weights(layer, head)[others, key].mean() for head in range(view.heads)] for layer in range(view.layers)
    ]
    return np.array(maps, np.float32)


def strengths(view: View, words: list[int], by: str) -> FloatArray:
    """Return the strengths that the page compares, shape (candidate, layer, head)."""
    found = links(view, words[0], words[1:])
    if by == "weight":
        return found
    placed = stored_priors()[EMBEDDED]["encoder"].row(view, words[0])
    doubts = [np.maximum(usual(view, words[0], key), placed[..., key]) for key in words[1:]]
    left: FloatArray = found - np.array(doubts)
    return left


@pytest.mark.slow
@pytest.mark.parametrize("by", ["excess", "weight"])
def test_the_famous_question_is_answered_with_the_model_s_numbers(views: list[View], by: str) -> None:
    told = notes(asked("find", model=EMBEDDED, by=by))
    words = [at(views[0], word) for word in ("it", "animal", "street")]
    prefers = [preference(strengths(view, words, by)) for view in views]
    layer, head = divmod(int(prefers[0].argmax()), views[0].heads)
    best = format_strengths(strengths(views[0], words, by)[:, layer, head].tolist(), by == "excess")
    least = "1.0"  # percentage points
    text = with_numbers(told, (prefers[0] > 0.01).sum(), 72, least, f"{layer}-{head}")
    assert f"{head}: {best[0]} against {best[1]}." in text
    assert "“it”" in text
    assert (layer, head) == ((3, 1) if by == "excess" else (5, 11)), "in 5-11 most words look at the animal"
    linked = strengths(views[0], words, by)[0]
    layer, head = divmod(int(linked.argmax()), views[0].heads)
    placed = stored_priors()[EMBEDDED]["encoder"].row(views[0], words[0])[layer, head, words[1]]
    weight = links(views[0], words[0], words[1:])[0, layer, head]
    baseline = max(usual(views[0], words[0], words[1])[layer, head], placed)
    decimals = decimals_of_difference(float(weight), float(baseline))
    shown = [signed_percent(float(number), decimals) for number in (weight, baseline)]
    shown.append(in_points(float(weight - baseline), decimals))
    (text,) = (note for note in told if all(number in note for number in shown) and f"{layer}-{head}" in note)
    weights = views[0].weights(layer, head)
    between = [cell for cell, key in enumerate(views[0].keys) if not key.special]
    others = [word for word in between if word not in words[:2]]
    favourites = [max((key for key in between if key != word), key=lambda key: weights[word, key]) for word in others]
    assert f"{favourites.count(words[1])} of {len(others)}" in text
    flipped = flips(prefers[0], prefers[1]).sum()
    text = with_numbers(told, flipped, 72, least, follows(prefers[0], prefers[1]).sum())
    assert ", ".join(str(flips(prefers[0], other).sum()) for other in prefers[2:]) in text
