"""Windows of passages cover every token, and the best span over all windows equals a search by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from attention.answer_windows import (
    MOST_ANSWER,
    MOST_QUESTION,
    PASSAGE,
    QUESTION,
    SPECIAL,
    WindowScores,
    best_spans,
    token_span,
    window_positions,
    word_bounds,
)


def kinds(question: int, passage: int) -> list[int]:
    return [SPECIAL, *[QUESTION] * question, SPECIAL, *[PASSAGE] * passage, SPECIAL]


def test_windows_cover_the_passage(subtests: pytest.Subtests) -> None:
    for question, passage, length, stride in product([1, 5, 200], [1, 40, 333], [16, 64], [0, 8, 999]):
        with subtests.test(question=question, passage=passage, length=length, stride=stride):
            given = kinds(question, passage)
            found = window_positions(given, length, stride)
            inside = [[at for at in one if given[at] == PASSAGE] for one in found]
            assert sorted({at for one in inside for at in one}) == [
                at for at, kind in enumerate(given) if kind == PASSAGE
            ]
            assert all(one == list(range(one[0], one[-1] + 1)) for one in inside)
            asked = [sum(given[at] == QUESTION for at in one) for one in found]
            assert set(asked) == {min(question, MOST_QUESTION, length // 2)}
            assert all(len(one) <= length for one in found) or length < asked[0] + 4
            for left, right in itertools.pairwise(inside):
                assert left[-1] - right[0] + 1 == min(stride, (length - asked[0] - 3) // 2)


def random_windows(seed: int, count: int, tokens: int = 40) -> list[WindowScores]:
    """Return neighbouring windows whose passages overlap by half; each token stands for two letters."""
    draw = np.random.default_rng(seed)
    found = []
    for number in range(count):
        letters = np.full((tokens, 2), -1, np.int64)
        places = np.arange(3, tokens - 1) + number * tokens // 2
        letters[3:-1] = np.stack([3 * places, 3 * places + 2], axis=1)
        start, end = draw.normal(size=(2, tokens)).astype(np.float32) * 3
        found.append(WindowScores(start, end, letters, 0))
    return found


def by_hand(windows: list[WindowScores]) -> dict[tuple[int, int], float]:
    """Return the best score of each span by a plain search."""
    found: dict[tuple[int, int], float] = {}
    for window in windows:
        for first in range(3, len(window.start) - 1):
            for last in range(first, min(first + MOST_ANSWER, len(window.start) - 1)):
                span = int(window.letters[first, 0]), int(window.letters[last, 1])
                found[span] = max(found.get(span, -np.inf), float(window.start[first]) + float(window.end[last]))
    return found


@pytest.mark.parametrize("no_answer", [False, True])
@pytest.mark.parametrize("count", [1, 3])
def test_the_best_spans_equal_a_plain_search(count: int, no_answer: bool) -> None:
    windows = random_windows(count, count)
    wanted = by_hand(windows)
    found = best_spans(windows, no_answer, top=len(wanted))
    assert {span.letters: span.score for span in found.spans} == pytest.approx(wanted)
    assert [span.score for span in found.spans] == sorted(wanted.values(), reverse=True)
    assert sum(span.probability for span in found.spans) + (found.null_probability or 0) == pytest.approx(1)
    assert found.null_score == min(window.null_score for window in windows)
    assert (found.null_probability is None) is not no_answer


def test_no_answer_wins_only_if_the_model_knows_it() -> None:
    [window] = random_windows(0, 1)
    high = WindowScores(window.start + np.float32(50) * (np.arange(40) == 0), window.end, window.letters, 0)
    assert best_spans([high], no_answer=True).says_no_answer
    assert not best_spans([high], no_answer=False).says_no_answer
    assert not best_spans([high, window], no_answer=True).says_no_answer  # a window with an answer rejects it


def test_without_passage_tokens_there_is_no_span() -> None:
    nothing = WindowScores(np.zeros(3, np.float32), np.zeros(3, np.float32), np.full((3, 2), -1, np.int64), 0)
    assert best_spans([nothing], no_answer=False).says_no_answer


def test_a_span_outside_the_window_has_no_tokens() -> None:
    [window] = random_windows(0, 1)
    first = int(window.letters[3, 0])
    assert token_span(window.letters, (first, first + 5)) == (3, 4)
    assert token_span(window.letters, (first - 1, first + 5)) is None
    assert token_span(window.letters, (10**6, 10**6 + 1)) is None


def test_answers_begin_and_end_at_words() -> None:
    [window] = random_windows(0, 1)
    bounds = np.ones((40, 2), bool)
    bounds[3::2, 0] = bounds[4::2, 1] = False
    found = best_spans([replace(window, bounds=bounds)], no_answer=False, top=1_000).spans
    assert found
    assert all(span.first % 2 == 0 and span.last % 2 == 1 for span in found)


def test_words_of_latin_scripts_have_parts_and_chinese_has_none() -> None:
    spans = np.array([[at, at + 1] for at in range(5)])
    assert word_bounds("ab 中文", spans).tolist() == [[True, False], [False, True], *[[True, True]] * 3]
