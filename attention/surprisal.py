"""How surprising a text is, from the logarithms of its pieces' probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attention.mask import FloatArray


def bits(log_probabilities: FloatArray) -> FloatArray:
    """Surprise in bits from natural logarithms, any shape: 0 = certain, 1 = as likely as heads of a coin.

    >>> bits(np.log(np.array([1.0, 0.5, 0.25]))).tolist()
    [0.0, 1.0, 2.0]
    """
    found: FloatArray = -log_probabilities / np.log(2) + 0.0
    return found


def of_words(log_probabilities: FloatArray, words: Sequence[object]) -> tuple[list[tuple[int, int]], FloatArray]:
    """Sums over the pieces of each word: (piece,) -> (start, stop) of each run of one word, and (word,).

    A word's probability is the product over its pieces where each was guessed without those after it
    (arXiv:2305.10588).

    >>> runs, sums = of_words(np.array([-1.0, -2.0, -4.0]), ["a", "a", "b"])
    >>> runs, sums.tolist()
    ([(0, 2), (2, 3)], [-3.0, -4.0])
    """
    starts = [at for at in range(len(words)) if at == 0 or words[at] != words[at - 1]]
    if not starts:
        return [], np.zeros(0, np.float32)
    sums: FloatArray = np.add.reduceat(log_probabilities, starts)
    return list(zip(starts, [*starts[1:], len(words)], strict=True)), sums


def pseudo_perplexity(log_probabilities: FloatArray) -> float:
    """e to the mean negative logarithm over the pieces of a text (arXiv:1910.14659, section 2.3).

    At least 1; a model that guesses among k equally likely pieces has k.

    >>> round(pseudo_perplexity(np.log(np.array([0.25, 0.25, 0.25]))), 6)
    4.0
    """
    if log_probabilities.size == 0:
        raise ValueError("A text without pieces has no pseudo-perplexity; 0 logarithms came, at least 1 is needed.")
    return float(np.exp(-log_probabilities.mean(dtype=np.float64)))
