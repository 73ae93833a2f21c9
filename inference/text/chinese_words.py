"""Words of a Chinese text, which is written without spaces: as a dictionary cuts it, not as a vocabulary does.

A model that reads Chinese by characters has a piece for each; where a word is one thing to a reader, its pieces are
shown together (the same way in which pieces of an English word are).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from attention.tokens import TokenRow
from attention.trace import Trace

HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_LOCK = threading.Lock()


def is_chinese(text: str) -> bool:
    """Whether there is any Chinese character in a text.

    >>> is_chinese("BERT 模型"), is_chinese("The cat")
    (True, False)
    """
    return HAN.search(text) is not None


def chinese_words(text: str) -> list[tuple[int, int]]:
    """Where the words of several Chinese characters stand, by jieba's dictionary and its model of unknown words.

    >>> [text[start:stop] for text in ["那只动物没有过马路。"] for start, stop in chinese_words(text)]
    ['动物', '没有', '马路']
    """
    found = []
    with _LOCK:
        cut = _cutter().tokenize
        for run in HAN.finditer(text):
            found += [(run.start() + start, run.start() + stop) for _, start, stop in cut(run[0]) if stop - start > 1]
    return found


def by_chinese_words(trace: Trace) -> Trace:
    """The trace with the pieces of each Chinese word as pieces of one word; the same trace where it has none."""
    source = regroup_words(trace.source, (trace.text, trace.pair or ""))
    target = trace.target and regroup_words(trace.target, (trace.target_text or "",))
    return replace(trace, source=source, target=target)


def regroup_words(row: TokenRow, texts: Sequence[str]) -> TokenRow:
    """The row with its words numbered anew: pieces that begin in one Chinese word of their text have its number.

    ``texts`` are those that the row's segments count.
    """
    spans = [chinese_words(text) if is_chinese(text) else [] for text in texts]
    if not any(spans):
        return row
    starts = [{at: start for start, stop in found for at in range(start, stop)} for found in spans]
    words: list[int | None] = []
    numbers: dict[int, int] = {}  # of the word before, by segment
    before: dict[int, object] = {}
    for word, segment, span in zip(row.words, row.segments, row.spans, strict=True):
        if word is None:
            words.append(None)
            continue
        inside = starts[segment].get(span[0]) if span is not None and segment < len(starts) else None
        here = ("word", word) if inside is None else ("chinese", inside)
        numbers[segment] = numbers.get(segment, -1) + (before.get(segment) != here)
        before[segment] = here
        words.append(numbers[segment])
    return replace(row, words=tuple(words))


@cache
def _cutter() -> Any:
    """jieba with its dictionary, read from its own file: the copy that it would keep in a shared folder is not read."""
    import jieba

    cutter = jieba.Tokenizer()
    cutter.FREQ, cutter.total = cutter.gen_pfdict(cutter.get_dict_file())
    cutter.initialized = True
    return cutter
