"""Rules that a head must beat: the best simple rule that needs no model, and never less than a guess.

If every other word competes: always the word at one distance, the distance that is right most often
(arXiv:1906.04341). If two candidates are given: the nearest, the first, or the candidate that is first in its own
sentence, as subjects often are; whichever is right most often, or a guess if that is right more often.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from attention.annotations import AnnotatedText, Link
from i18n import gettext_lazy

GUESS, NEAREST, FIRST, SUBJECT = 0, 1, 2, 4  # among candidates; a link's cue is the sum of the rules that find it
RULES = {
    GUESS: gettext_lazy("a guess between the two"),
    NEAREST: gettext_lazy("nearest candidate"),
    FIRST: gettext_lazy("first candidate"),
    SUBJECT: gettext_lazy("candidate nearest to its sentence's beginning"),
}
CHANCE = 0.5  # of a guess: every format with candidates has two
ENDS = re.compile(r"[.!?][\"'”’)]*\s|[。！？\n]")  # of sentences


def cue(item: AnnotatedText, link: Link) -> int:
    """Return what a rule needs to find the link: the target's distance in units, or the sum of the rules that find it.

    Distances to candidates are between first characters. A target that ties with another candidate is not found.
    """
    if link.others is None:
        return link.target - link.source
    start = item.units[link.source][0]
    places = [item.units[unit][0] for unit in (link.target, *link.others)]
    orders = {
        NEAREST: [abs(place - start) for place in places],
        FIRST: places,
        SUBJECT: [len(item.text[_beginning(item.text, place) : place].split()) for place in places],
    }
    return sum(rule for rule, order in orders.items() if order[0] < min(order[1:]))


def _beginning(text: str, place: int) -> int:
    """Return the character at which the sentence around ``place`` begins.

    >>> _beginning("It rains. The cat sleeps.", 14)
    10
    """
    return max((match.end() for match in ENDS.finditer(text, 0, place)), default=0)


def count_found(cues: Mapping[int, int], rule: int, candidates: bool) -> float:
    """Return how many links a rule finds, of how often each cue occurs; of a guess, the mean.

    >>> count_found({1: 3, 3: 2, 2: 1}, FIRST, candidates=True), count_found({1: 3, 3: 2, 2: 1}, GUESS, candidates=True)
    (3, 3.0)
    """
    if not candidates:
        return cues.get(rule, 0)
    if rule == GUESS:
        return CHANCE * sum(cues.values())
    return sum(times for cue, times in cues.items() if cue & rule)


def best(cues: Mapping[int, int], reported: Mapping[int, int], candidates: bool) -> int:
    """Return the rule that finds most of ``cues``; of equal distances the shorter.

    Among candidates, of equal rules the rule that finds more of what is ``reported``, and a guess if that is more.

    >>> best({-1: 3, 1: 5, 4: 2}, {4: 9}, candidates=False)
    1
    >>> best({1: 3, 2: 3}, {1: 4, 2: 6}, candidates=True), best({1: 4, 2: 3}, {1: 4, 2: 6}, candidates=True)
    (2, 0)
    """
    if not candidates:
        return max(cues, key=lambda cue: (cues[cue], -abs(cue), cue))
    order = (NEAREST, FIRST, SUBJECT, GUESS)
    chosen = max(order, key=lambda rule: [count_found(each, rule, candidates) for each in (cues, reported)])
    return max((chosen, GUESS), key=lambda rule: count_found(reported, rule, candidates))


def name(rule: int, candidates: bool) -> str:
    """Return the rule in words.

    >>> name(-1, candidates=False), name(3, candidates=False)
    ('always the word before', 'always 3 words on')
    """
    if candidates:
        return RULES[rule]
    near = {-1: gettext_lazy("always the word before"), 1: gettext_lazy("always the next word")}
    if rule in near:
        return near[rule]
    words = abs(rule)
    return gettext_lazy("always {n} words on", n=words) if rule > 0 else gettext_lazy("always {n} words back", n=words)
