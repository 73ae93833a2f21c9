"""Links of a score: the listed links and hits agree with the counts."""

from __future__ import annotations

import numpy as np

from attention.annotations import AnnotatedText, Link
from probing.corpus import AnnotatedCorpus
from probing.results import list_links
from probing.score import HitCounts
from tests.support.present import present

UNITS = ((0, 1), (2, 3), (4, 5))
ITEMS = tuple(
    AnnotatedText(f"{at} b c", UNITS, (Link("det", 0, at % 3 or 1), Link("obj", 2, 0), Link("det", 1, 2)), line=10 * at)
    for at in range(5)
)
CORPUS = AnnotatedCorpus("conllu", ITEMS, ("dependent to head", "head to dependent"), "0" * 64)


def tally() -> tuple[HitCounts, np.ndarray]:
    """Return counts added in another order than the file's; the second "det" of sentence 3 was not read."""
    hits = np.random.default_rng(0).random((15, 2, 2, 3)) < 0.5
    counted, order, read = HitCounts(), [4, 1, 3, 0, 2], np.ones(15, bool)
    read[3 * order.index(3) + 2] = False
    counted.add(CORPUS, order, hits, read)
    return counted, hits.reshape(5, 3, 2, 2, 3)[np.argsort(order)]


def test_links_come_in_the_files_order_with_what_the_head_found() -> None:
    counted, hits = tally()
    found = list_links(present(counted.counts_of("det")), CORPUS, (1, 0, 2), rule=1)
    places = [(sentence, at) for sentence in range(5) for at in (0, 2) if (sentence, at) != (3, 2)]
    assert [(one.item.line, one.link) for one in found] == [(10 * s, ITEMS[s].links[at]) for s, at in places]
    assert [one.hit for one in found] == [bool(hits[s, at, 1, 0, 2]) for s, at in places]
    assert [one.half for one in found] == [s % 2 for s, _ in places]
    assert [one.by_rule for one in found] == [one.link.target - one.link.source == 1 for one in found]


def test_hits_are_as_many_as_the_score_says() -> None:
    counts = present(tally()[0].counts_of("det"))
    for place in np.ndindex(*counts.shape):
        found = list_links(counts, CORPUS, (place[0], place[1], place[2]), rule=1)
        assert len(found) == counts.n
        assert sum(one.hit for one in found) == counts.hits_by_head[place]
    assert sum(one.by_rule for one in found) == counts.cues[1]
