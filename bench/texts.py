"""English sentences for measurements, generated from a small grammar by a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

PEOPLE = ["the captain", "her neighbour", "a young baker", "the old clockmaker", "my aunt", "every tourist"]
THINGS = ["the lantern", "a broken violin", "the green suitcase", "two letters", "the harbour map", "a loaf of bread"]
VERBS = ["carried", "forgot", "repaired", "described", "bought", "hid", "returned", "painted", "lost", "remembered"]
PLACES = ["behind the station", "on the bridge", "in the quiet library", "near the river", "under the stairs"]
TIMES = ["before sunrise", "during the storm", "after the concert", "every winter", "while the bells rang"]
LINKS = ["because", "although", "so", "and then", "while"]


def sentences(seed: int = 0) -> Iterator[str]:
    """Yield an endless stream of sentences of 6 to 17 words.

    >>> next(sentences(1)) == next(sentences(1)) != next(sentences(2))
    True
    """
    pick = random.Random(seed).choice

    def clause() -> str:
        return f"{pick(PEOPLE)} {pick(VERBS)} {pick(THINGS)}"

    while True:
        endings = [pick(PLACES), pick(TIMES), f"{pick(LINKS)} {clause()}", f"{pick(PLACES)} {pick(TIMES)}"]
        sentence = f"{clause()} {pick(endings)}."
        yield sentence[0].upper() + sentence[1:]


def text_of(tokens: int, count: Callable[[str], int], seed: int = 0) -> str:
    """Return a text of exactly ``tokens`` tokens by ``count``; it may end in the middle of a sentence.

    >>> len(text_of(9, lambda text: len(text.split())).split())
    9
    """
    words: list[str] = []
    for sentence in sentences(seed):
        words += sentence.split()
        if len(words) >= tokens:  # every word has at least one token
            break
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(" ".join(words[:middle])) <= tokens else (low, middle - 1)
    text = " ".join(words[:low])
    while count(text) < tokens:  # the next word has too many tokens
        text += " a"
    return text
