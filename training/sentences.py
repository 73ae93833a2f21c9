"""Running text cut into sentences, by rules: good enough to say where a text may be broken in two."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A mark that ends a sentence, what closes behind it, a gap, then something that starts a sentence.
_END = re.compile(r"""(?<=[.!?])["'”’)\]]*\s+(?=["'“‘(\[]*[A-Z0-9])""")
# A dot behind these ends no sentence: titles, Latin, months, and single initials.
_NOT_AN_END = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Prof|Rev|Gen|Col|Lt|Sgt|Capt|Gov|Sen|Rep|Hon|No|Vol|pp?|ca?|cf|vs|etc|e\.g|i\.e|al"
    r"|Inc|Ltd|Co|Corp|Bros|approx|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)|\b[A-Z])\.$"
)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text in order, stripped; a line break always ends one.

    >>> list(sentences("Dr. Ames slept. Why? Nobody asked J. Bell.\\nThe end"))
    ['Dr. Ames slept.', 'Why?', 'Nobody asked J. Bell.', 'The end']
    """
    for line in text.splitlines():
        start = 0
        for gap in _END.finditer(line):
            if not _NOT_AN_END.search(line, start, gap.start()):
                yield line[start : gap.end()].strip()
                start = gap.end()
        if rest := line[start:].strip():
            yield rest
