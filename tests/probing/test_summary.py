"""The terminal summary: each relation's best head against the rule, and the number of heads above it."""

from __future__ import annotations

import numpy as np

from probing.corpus import AnnotatedCorpus
from probing.results import summary
from probing.score import HitCounts, RelationCounts, ScoringState
from tests.support.differenttexts import different_texts

LINKS, SHAPE = 30, (2, 2, 3)
CORPUS = AnnotatedCorpus("conllu", different_texts(2 * LINKS), ("dependent to head", "head to dependent"), "0" * 64)


def tally(found: int, also: int = 0) -> HitCounts:
    """Return counts of 30 links in each half, one per sentence.

    The rule finds 10 links, head 1-2 finds ``found`` and each other head finds ``also``.
    """
    hits = np.zeros((LINKS, *SHAPE), bool)
    hits[:also] = True
    hits[:, 0, 1, 2] = np.arange(LINKS) < found
    needed = [1] * 10 + list(range(2, 22))
    return HitCounts(
        {
            (half, "det"): RelationCounts.from_hits([(2 * at + half, 0) for at in range(LINKS)], needed, hits)
            for half in (0, 1)
        }
    )


def told(found: int, also: int = 0, random: HitCounts | None = None) -> str:
    return summary(CORPUS, ScoringState("", tally=tally(found, also)), None, random).splitlines()[-1]


def test_a_head_above_the_rule_is_said_to_find_more_and_counted_beside_the_untrained() -> None:
    line = told(30, random=tally(0, 1))
    assert "1-2   100.0" in line
    assert "n = 30     more than always the next word 33.3, random weights 3.3" in line
    assert line.endswith("1 of 6 heads, with random weights 0 of 6 heads")


def test_a_head_like_the_rule_is_not_clearly_more_and_a_worse_one_less() -> None:
    assert "not clearly more than always the next word" in told(11)
    assert "n = 30     less than always the next word" in told(1)


def test_no_table_has_its_reason() -> None:
    few = HitCounts(
        {(half, "det"): RelationCounts.from_hits([(half, 0)], [1], np.ones((1, *SHAPE), bool)) for half in (0, 1)}
    )
    said = summary(CORPUS, ScoringState("", tally=few), None, None).splitlines()
    assert len(said) == 2
    assert said[1].startswith("No table: no relation has 20 links in both halves.")
