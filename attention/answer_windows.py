"""Windows of a long passage, and the best answer spans over all windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attention.mask import FloatArray

SPECIAL, QUESTION, PASSAGE = 0, 1, 2  # kinds of tokens of a question with its passage
MOST_QUESTION = 64  # tokens of a question that are read, as in BERT's script
MOST_ANSWER = 30  # tokens of an answer, as in BERT's script
LENGTH, STRIDE = 256, 64  # tokens of a window, and passage tokens that two neighbouring windows share
SHORTEST = 32  # tokens of a window; with fewer, a question leaves no room for its passage

Letters = tuple[int, int]  # (start, end) in letters of the passage
NOWHERE = (-1, -1)  # the letters of tokens that are not of the passage, or stand for spaces only


def window_positions(kinds: Sequence[int], length: int, stride: int) -> list[list[int]]:
    """Return the positions of the tokens of each window, in order.

    ``kinds`` marks each token of the whole text as SPECIAL, QUESTION or PASSAGE. Every window has the special tokens,
    the first MOST_QUESTION tokens of the question (at most half of ``length``), and passage tokens up to ``length``.
    Neighbouring windows overlap in ``stride`` passage tokens, or in half of a window's passage tokens if that is less.

    >>> window_positions([0, 1, 0, 2, 2, 2, 2, 2, 0], length=7, stride=1)
    [[0, 1, 2, 3, 4, 5, 8], [0, 1, 2, 5, 6, 7, 8]]
    """
    asked = [at for at, kind in enumerate(kinds) if kind == QUESTION]
    dropped = set(asked[max(1, min(MOST_QUESTION, length // 2)) :])
    passage = [at for at, kind in enumerate(kinds) if kind == PASSAGE]
    frame = [at for at, kind in enumerate(kinds) if kind != PASSAGE and at not in dropped]
    room = max(1, length - len(frame))
    step = room - min(stride, room // 2)
    found = []
    for first in range(0, max(1, len(passage)), step):
        found.append(sorted(frame + passage[first : first + room]))
        if first + room >= len(passage):
            break
    return found


@dataclass(frozen=True, eq=False)
class WindowScores:
    """The start and end logits of a window, (token,), and the span of each token in the passage.

    ``letters`` (token, 2) has the span (start, stop) of each token in characters, or NOWHERE if the token cannot be
    part of an answer. ``null`` is the position of [CLS], whose logits score "no answer". ``bounds`` (token, 2) has two
    flags: True if a word begins at the token, so that an answer may begin there, and True if a word ends at it. With
    None, an answer may begin and end at any token.
    """

    start: FloatArray
    end: FloatArray
    letters: NDArray[np.int64]
    null: int
    bounds: NDArray[np.bool_] | None = None

    @property
    def null_score(self) -> float:
        """Return the score of "no answer" in this window: the sum of the start and end logits at [CLS]."""
        return float(self.start[self.null]) + float(self.end[self.null])


@dataclass(frozen=True)
class ScoredSpan:
    """An answer span: its characters in the passage, its tokens in the window ``window``, and its score.

    ``first`` and ``last`` are token positions in the window. ``score`` is the sum of the start logit of the first token
    and the end logit of the last. ``probability`` is from a softmax over the scores of all spans of all windows. The
    softmax includes "no answer" if the model can give it.
    """

    letters: Letters
    window: int
    first: int
    last: int
    score: float
    probability: float


@dataclass(frozen=True)
class BestSpans:
    """The best spans, most probable first, and the score and probability of "no answer".

    The probability of "no answer" is None if the model cannot give it.
    """

    spans: tuple[ScoredSpan, ...]
    null_score: float
    null_probability: float | None

    @property
    def says_no_answer(self) -> bool:
        """Return True if "no answer" has a higher score than the best span, or if there is no span."""
        if not self.spans:
            return True
        return self.null_probability is not None and self.null_score > self.spans[0].score


def best_spans(windows: Sequence[WindowScores], no_answer: bool, top: int = 1) -> BestSpans:
    """Return the ``top`` best spans over all windows.

    A span lies in a single window, has at most MOST_ANSWER tokens, and starts no later than it ends. If several windows
    contain a span, its best score counts. The score of "no answer" is its smallest score over the windows, as in BERT's
    script for SQuAD 2.0, because "no answer" is wrong if any window contains an answer.

    >>> letters = np.array([[-1, -1], [0, 3], [4, 9]])
    >>> one = WindowScores(np.float32([0, 2, 0]), np.float32([0, 1, 3]), letters, 0)
    >>> found = best_spans([one], no_answer=True)
    >>> found.spans[0].letters, found.says_no_answer, round(found.spans[0].probability, 2)
    ((0, 9), False, 0.78)
    """
    columns = [_window_spans(window, number) for number, window in enumerate(windows)]
    places = np.concatenate([place for place, _ in columns])  # (span, [start letter, end letter, window, first, last])
    scores = np.concatenate([score for _, score in columns])
    null = min((window.null_score for window in windows), default=0.0)
    order = np.lexsort((-scores, places[:, 1], places[:, 0]))
    places, scores = places[order], scores[order]
    fresh = np.ones(len(places), bool)  # the first of equal letters has the best score
    fresh[1:] = (places[1:, :2] != places[:-1, :2]).any(axis=1)
    places, scores = places[fresh], scores[fresh]
    every = np.append(scores, null) if no_answer else scores
    total = np.logaddexp.reduce(every) if len(every) else 0.0
    found = []
    for at in np.argsort(-scores, kind="stable")[:top]:
        start, end, window, first, last = map(int, places[at])
        found.append(
            ScoredSpan((start, end), window, first, last, float(scores[at]), float(np.exp(scores[at] - total)))
        )
    return BestSpans(tuple(found), null, float(np.exp(null - total)) if no_answer else None)


def _window_spans(window: WindowScores, number: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return every allowed span of a window: (span, [start letter, end letter, window, first, last]) and its score."""
    at = np.flatnonzero(window.letters[:, 0] >= 0)
    grid = np.arange(len(at))
    allowed = (grid[None] >= grid[:, None]) & (grid[None] - grid[:, None] < MOST_ANSWER)
    if window.bounds is not None:
        allowed &= window.bounds[at, 0][:, None] & window.bounds[at, 1][None]
    first, last = np.nonzero(allowed)
    first, last = at[first], at[last]
    score = window.start[first].astype(np.float64) + window.end[last].astype(np.float64)
    columns = (window.letters[first, 0], window.letters[last, 1], np.full_like(first, number), first, last)
    return np.stack(columns, axis=1), score


def trim_letters(passage: str, span: Letters) -> Letters:
    """Return the span without spaces at its ends; (-1, -1) if it consists of spaces only.

    >>> trim_letters("on the hill", (2, 6)), trim_letters("on the hill", (2, 3))
    ((3, 6), (-1, -1))
    """
    text = passage[slice(*span)]
    if not text.strip():
        return NOWHERE
    return span[0] + len(text) - len(text.lstrip()), span[1] - len(text) + len(text.rstrip())


SPACED = "\u0e00"  # before it are the scripts with spaces between words that are tokenised into parts of words


def word_bounds(passage: str, letters: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return two flags for each token, shape (token, 2): a word begins at the token, and a word ends at it.

    In Chinese, Japanese, Thai and Korean, both flags are True for every token.

    >>> word_bounds("unhappy cats", np.array([[0, 2], [2, 7], [8, 12]])).tolist()
    [[True, False], [False, True], [True, True]]
    """
    return np.array([[not _is_inside(passage, int(at)) for at in span] for span in letters], bool).reshape((-1, 2))


def _is_inside(passage: str, at: int) -> bool:
    """Return True if the letter ``at`` and the letter before it belong to the same word."""
    return 0 < at < len(passage) and all(letter.isalnum() and letter < SPACED for letter in passage[at - 1 : at + 1])


def token_span(letters: NDArray[np.int64], answer: Letters) -> tuple[int, int] | None:
    """Return the first and last token of a window that overlap with an answer; None if the window cuts the answer off.

    >>> token_span(np.array([[-1, -1], [0, 3], [4, 9]]), (4, 7)), token_span(np.array([[-1, -1], [0, 3]]), (2, 9))
    ((2, 2), None)
    """
    start, end = answer
    inside = np.flatnonzero((letters[:, 0] >= 0) & (letters[:, 0] < end) & (letters[:, 1] > start))
    if not len(inside) or letters[inside[0], 0] > start or letters[inside[-1], 1] < end:
        return None
    return int(inside[0]), int(inside[-1])


def null_position(ids: Sequence[int], cls: int | None) -> int:
    """Return the position of the token with the id ``cls``, [CLS]; 0 if the tokenizer has no such token.

    >>> null_position([7, 8, 101], 101), null_position([7, 8], None)
    (2, 0)
    """
    return ids.index(cls) if cls is not None and cls in ids else 0
