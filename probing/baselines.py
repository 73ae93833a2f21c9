"""What a head must beat: the best rule that looks at no model.

Where every other word competes: always the word at one distance, the distance that is right most often
(arXiv:1906.04341). Where candidates are given: always the nearest.
"""

from __future__ import annotations

from collections.abc import Mapping

from attention.links import Item, Link
from wording import sentence

NEAREST = sentence("nearest candidate")


def cue(item: Item, link: Link) -> int:
    """What a rule would need to know: the target's distance in units; among candidates, 1 if it is the nearest, or 0.

    Distances to candidates are between first characters; a target as near as another one is not the nearest.
    """
    if link.others is None:
        return link.target - link.source
    start = item.units[link.source][0]
    away = [abs(item.units[unit][0] - start) for unit in (link.target, *link.others)]
    return int(away[0] < min(away[1:]))


def best(cues: Mapping[int, int], candidates: bool) -> int:
    """The cue that a rule should bet on: the most frequent distance (the shorter of equals), or being the nearest.

    >>> best({-1: 3, 1: 5, 4: 2}, candidates=False)
    1
    """
    if candidates:
        return 1
    return max(cues, key=lambda cue: (cues[cue], -abs(cue), cue))


def name(cue: int, candidates: bool) -> str:
    """The rule in words.

    >>> name(-1, candidates=False), name(3, candidates=False)
    ('always the word before', 'always 3 words on')
    """
    if candidates:
        return NEAREST
    near = {-1: sentence("always the word before"), 1: sentence("always the next word")}
    if cue in near:
        return near[cue]
    words = abs(cue)
    return sentence("always {n} words on", n=words) if cue > 0 else sentence("always {n} words back", n=words)
