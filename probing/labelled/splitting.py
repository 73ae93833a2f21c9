"""One file's rows divided into train, dev and test: by seed, stratified, and so that few rows move when some are added.

Each text has a number from the hash of seed and text. Within each stratum the texts with the lowest numbers are test,
the next ones dev, all others train. Rows of one text stay together, so that nothing is told on what was learned from.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence

from probing.labelled.labeled_texts import OUTSIDE, LabeledText, TaggedText
from probing.labelled.parsed_rows import Row

SHARES = {"test": 0.1, "dev": 0.1}
MOST = {"test": 2_000, "dev": 1_000}  # texts: more would be scored longer than they would say more


def split(rows: Sequence[Row], seed: int = 0, parts: Sequence[str] = ("dev", "test")) -> dict[str, list[Row]]:
    """The rows of "train" and of each of ``parts``, in the file's order.

    >>> rows = [LabeledText(f"{at} is {'odd' if at % 2 else 'even'}", str(at % 2)) for at in range(40)]
    >>> {part: len(some) for part, some in split(rows).items()}
    {'train': 32, 'dev': 4, 'test': 4}
    """
    part_of = _draw_parts(_strata(rows), seed, [part for part in SHARES if part in parts])
    learned = {kind for row in rows if row.text not in part_of for kind in kinds(row)}
    for text in {row.text for row in rows if not kinds(row) <= learned}:
        part_of.pop(text, None)
    divided: dict[str, list[Row]] = {"train": [], **{part: [] for part in parts}}
    for row in rows:
        divided[part_of.get(row.text, "train")].append(row)
    return divided


def kinds(row: LabeledText | TaggedText) -> frozenset[str]:
    """What a model must have seen to be asked for it: a row's class, or the kinds of its spans."""
    if isinstance(row, LabeledText):
        return frozenset([row.label])
    return frozenset(tag[2:] for tag in row.tags if tag != OUTSIDE)


def _strata(rows: Sequence[LabeledText] | Sequence[TaggedText]) -> dict[str, list[str]]:
    """Texts by their class, or by the rarest kind among their spans; of several rows' the first in the alphabet."""
    counts = Counter(kind for row in rows for kind in kinds(row))
    of_text: dict[str, str] = {}
    for row in rows:
        rarest = min(kinds(row), key=lambda kind: (counts[kind], kind), default="")
        of_text[row.text] = min(of_text.get(row.text, rarest), rarest)
    strata: dict[str, list[str]] = defaultdict(list)
    for text, stratum in of_text.items():
        strata[stratum].append(text)
    return strata


def _draw_parts(strata: dict[str, list[str]], seed: int, parts: Sequence[str]) -> dict[str, str]:
    """The part of each text that is not for training. Of a stratum, one text at least stays."""
    total = sum(map(len, strata.values()))
    part_of: dict[str, str] = {}
    for texts in strata.values():
        waiting = sorted(texts, key=lambda text: _number(text, seed))
        for part in parts:
            share = min(SHARES[part], MOST[part] / total)
            wanted = min(max(round(share * len(texts)), 1), len(waiting) - 1)
            part_of.update(dict.fromkeys(waiting[:wanted], part))
            waiting = waiting[wanted:]
    return part_of


def _number(text: str, seed: int) -> bytes:
    return hashlib.blake2b(f"{seed}\n{text}".encode(), digest_size=8).digest()
