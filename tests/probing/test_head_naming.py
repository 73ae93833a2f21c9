"""Names of heads: the relation is selected on one half of the sentences and scored on the other half."""

from __future__ import annotations

import numpy as np

from probing.corpus import AnnotatedCorpus
from probing.results import name_heads
from probing.score import HitCounts, RelationCounts
from probing.statistics import LEVEL
from tests.support.differenttexts import different_texts

LAYERS, HEADS, LINKS = 2, 3, 24
TEXTS = different_texts(2 * LINKS)
TREES = AnnotatedCorpus("conllu", TEXTS, ("dependent to head", "head to dependent"), "0" * 64, together=True)
PRONOUNS = AnnotatedCorpus("csv", TEXTS, ("source to target", "target to source"), "1" * 64)


def counts(half: int, **hits: np.ndarray) -> dict[tuple[int, str], RelationCounts]:
    """Return counts with a single link per sentence, of which the rule finds a third.

    ``hits`` has axes (direction, layer, head, link).
    """
    needed = [1] * (LINKS // 3) + [2 + at for at in range(LINKS - LINKS // 3)]
    places = [(2 * at + half, 0) for at in range(LINKS)]
    return {
        (half, name): RelationCounts.from_hits(places, needed, np.moveaxis(found, -1, 0))
        for name, found in hits.items()
    }


def nothing() -> np.ndarray:
    return np.zeros((2, LAYERS, HEADS, LINKS), bool)


def test_the_relation_is_chosen_on_one_half_and_told_on_the_other() -> None:
    det, obj, det_told, obj_told = (nothing() for _ in range(4))
    det[1, 1, 2, :20], obj[1, 1, 2, :15] = True, True
    # The half for scoring favours "obj", which must not affect the selection.
    det_told[1, 1, 2, :4], obj_told[1, 1, 2] = True, True
    tally = HitCounts({**counts(0, det=det, obj=obj), **counts(1, det=det_told, obj=obj_told)})
    [(head, row)] = name_heads([(tally, TREES)]).items()
    assert head == (1, 2) == (row.layer, row.head)
    assert (row.relation, row.direction, row.n) == ("det", "head to dependent", LINKS)
    assert (row.accuracy, row.baseline) == (100 * 4 / LINKS, 100 / 3)
    assert not row.more


def test_a_head_that_does_it_again_is_believed() -> None:
    found = nothing()
    found[0, 0, 1] = True
    [(head, row)] = name_heads([(HitCounts({**counts(0, det=found), **counts(1, det=found)}), TREES)]).items()
    assert (head, row.accuracy, row.more) == ((0, 1), 100, True)


def test_the_doubt_is_corrected_for_all_heads_that_were_chosen() -> None:
    chosen, told = nothing(), nothing()
    chosen[0] = True
    told[0, ..., : LINKS // 3] = True  # These heads find the same links as the rule.
    told[0, 0, 0, : LINKS // 3 + 6] = True  # Six more links than the rule give p = 2/64 without correction.
    alone = nothing()
    alone[0, 0, 0] = True
    one = name_heads([(HitCounts({**counts(0, det=alone), **counts(1, det=told)}), TREES)])
    all_six = name_heads([(HitCounts({**counts(0, det=chosen), **counts(1, det=told)}), TREES)])
    assert one[0, 0].more
    assert one[0, 0].p < LEVEL < all_six[0, 0].p == 6 * one[0, 0].p
    assert len(all_six) == LAYERS * HEADS


def test_every_relation_together_and_marks_name_no_head_and_few_links_neither() -> None:
    found = nothing()
    found[:] = True
    for name in ("all", "punct"):
        assert name_heads([(HitCounts({**counts(0, **{name: found}), **counts(1, **{name: found})}), TREES)]) == {}
    assert name_heads([(HitCounts(counts(0, det=found)), TREES)]) == {}
    few = {key: RelationCounts(c.places[:9], c.needed[:9], c.bits[:9], c.shape) for key, c in
           {**counts(0, det=found), **counts(1, det=found)}.items()}  # fmt: skip
    assert name_heads([(HitCounts(few), TREES)]) == {}


def test_several_sets_of_sentences_name_each_head_once() -> None:
    weak, strong = nothing(), nothing()
    weak[0, 0, 0, :12], strong[0, 0, 0] = True, True
    trees = HitCounts({**counts(0, det=weak), **counts(1, det=weak)})
    pronouns = HitCounts(
        {key: RelationCounts(c.places, (c.needed == 1).astype(np.int64), c.bits, c.shape) for key, c in
         {**counts(0, coref=strong), **counts(1, coref=strong)}.items()}
    )  # fmt: skip
    found = name_heads([(trees, TREES), (pronouns, PRONOUNS)])
    assert [row.relation for row in found.values()] == ["coref"]
    assert found[0, 0].baseline_name == "a guess between the two"  # The rules find fewer links than a guess.
