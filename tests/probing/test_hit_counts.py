"""Hit counts, baselines and intervals, checked for additivity and by hand."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from attention.annotations import AnnotatedText, Link
from probing import statistics
from probing.corpus import ALL, AnnotatedCorpus
from probing.formats import load_ready_set
from probing.results import held_out_best, rows, to_csv, to_json
from probing.score import HitCounts, RelationCounts
from probing.statistics import wilson
from tests.support.differenttexts import different_texts
from tests.support.present import present

LAYERS, HEADS = 2, 3
UNITS = ((0, 1), (2, 3), (4, 5), (6, 7))


def item(*links: Link, first: str = "a") -> AnnotatedText:
    return AnnotatedText(f"{first} b c d", UNITS, links)


def corpus(format: str = "conllu", items: tuple[AnnotatedText, ...] = different_texts(60)) -> AnnotatedCorpus:
    names = {"conllu": ("dependent to head", "head to dependent"), "gap": ("pronoun to candidate",)}
    return AnnotatedCorpus(format, items, names[format], "0" * 64, together=format == "conllu")


def random_hits(links: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((links, 2, LAYERS, HEADS)) < 0.4


ITEMS = (
    item(Link("det", 0, 1), Link("obj", 2, 0)),
    item(Link("det", 1, 2), Link("punct", 3, 0), first="e"),
    item(Link("det", 3, 1), first="f"),
)


def filled(numbers: Any = (0, 1, 2), hits: np.ndarray | None = None, read: np.ndarray | None = None) -> HitCounts:
    links = sum(len(ITEMS[at].links) for at in numbers)
    tally = HitCounts()
    hits = random_hits(5)[:links] if hits is None else hits
    tally.add(corpus(items=ITEMS), numbers, hits, np.ones(links, bool) if read is None else read)
    return tally


def equal(one: HitCounts, other: HitCounts) -> bool:
    return json.dumps(one.to_json(), sort_keys=True) == json.dumps(other.to_json(), sort_keys=True)


def test_links_are_counted_by_half_and_relation() -> None:
    hits = random_hits(5)
    tally = filled(hits=hits)
    assert tally.relations() == [ALL, "det", "obj", "punct"]
    det = present(tally.counts_of("det"))
    assert det.n == 3
    np.testing.assert_array_equal(det.hits_by_head, hits[[0, 2, 4]].sum(axis=0))
    assert det.cues == Counter({1: 2, -2: 1})
    np.testing.assert_array_equal(det.hits[np.argsort(det.sentences)], hits[[0, 2, 4]])
    assert sorted(det.places.tolist()) == [[0, 0], [1, 0], [2, 0]]
    np.testing.assert_array_equal(present(tally.counts_of("det", 0)).hits_by_head, hits[[0, 4]].sum(axis=0))
    np.testing.assert_array_equal(present(tally.counts_of("det", 1)).hits_by_head, hits[2])
    assert tally.counts_of("obj", 1) is None
    assert tally.counts_of("nsubj") is None


def test_all_is_every_relation_but_punct_and_root() -> None:
    hits = random_hits(5)
    everything = present(filled(hits=hits).counts_of(ALL))
    assert everything.n == 4
    np.testing.assert_array_equal(everything.hits_by_head, hits[[0, 1, 2, 4]].sum(axis=0))


def test_adding_in_parts_equals_adding_at_once() -> None:
    hits = random_hits(5)
    parts = HitCounts()
    parts.add(corpus(items=ITEMS), [0], hits[:2], np.ones(2, bool))
    parts.add(corpus(items=ITEMS), [1, 2], hits[2:], np.ones(3, bool))
    assert equal(parts, filled(hits=hits))


def test_what_was_not_read_counts_nowhere() -> None:
    read = np.array([True, False, True, True, False])
    tally = filled(read=read)
    assert tally.unread == 2
    assert present(tally.counts_of("det")).n == 2
    assert tally.counts_of("obj") is None


def test_a_tally_survives_json() -> None:
    tally = filled()
    assert equal(HitCounts.from_json(json.loads(json.dumps(tally.to_json()))), tally)
    rows = tally.to_json()["counts"]
    lacking = [[*rows[0][:3], rows[0][3][:-1], *rows[0][4:]]]
    before = [[0, "det", 3, [[[0]]], [[1, 3]]]]  # Earlier versions stored sums only.
    for counts in (3, [[0]], lacking, before):
        with pytest.raises((ValueError, TypeError, LookupError)):
            HitCounts.from_json({"counts": counts, "unread": 0})
    with pytest.raises(LookupError):
        HitCounts.from_json({})


def test_the_fixed_offset_is_the_most_frequent_and_of_equals_the_shortest() -> None:
    for cues, best in (({-3: 4, 1: 5, 2: 1}, 1), ({-3: 4, 2: 4, 5: 4}, 2), ({-1: 2, 1: 2}, 1)):
        assert statistics.best(cues, {}, candidates=False) == best


@pytest.mark.parametrize(("source", "target", "other", "nearest"), [(0, 1, 3, 1), (0, 3, 1, 0), (2, 1, 3, 0)])
def test_the_nearest_candidate_begins_nearest_and_a_tie_is_none(
    source: int, target: int, other: int, nearest: int
) -> None:
    link = Link("coref", source, target, (other,))
    assert statistics.cue(item(link), link) & statistics.NEAREST == nearest


def test_the_first_and_the_sentences_first_candidate_are_rules() -> None:
    text = "In May the aunt met Ann. Bob saw her."
    units = tuple((text.index(word), text.index(word) + len(word)) for word in ("her", "aunt", "Bob"))
    aunt, bob = Link("coref", 0, 1, (2,)), Link("coref", 0, 2, (1,))
    assert statistics.cue(AnnotatedText(text, units, (aunt,)), aunt) == statistics.FIRST
    assert statistics.cue(AnnotatedText(text, units, (bob,)), bob) == statistics.NEAREST | statistics.SUBJECT


def test_the_rule_between_candidates_is_the_best_of_three() -> None:
    near, first, subject = statistics.NEAREST, statistics.FIRST, statistics.SUBJECT
    reported = {near: 4, first: 6}
    assert statistics.best({near: 6, first: 4}, {near: 6, first: 4}, candidates=True) == near
    assert statistics.best({near: 4, first: 6}, reported, candidates=True) == first
    assert statistics.best({near: 4, first | subject: 2, subject: 4}, {subject: 6}, candidates=True) == subject
    assert statistics.best({near: 5, first: 5}, reported, candidates=True) == first, "of equals the harder to beat"
    assert statistics.best({near: 6, first: 4}, reported, candidates=True) == first, "the reported links count too"
    assert statistics.best({near: 9, first: 4}, reported, candidates=True) == statistics.GUESS, "never below chance"


def test_the_pronouns_of_the_app_have_a_rule_above_chance() -> None:
    found = load_ready_set("pronouns")
    halves: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
    for half, each in zip(found.halves, found.items, strict=True):
        halves[half].update(statistics.cue(each, link) for link in each.links)
    assert [statistics.count_found(half, statistics.NEAREST, candidates=True) for half in halves] == [11, 7]
    rule = statistics.best(halves[0], halves[1], candidates=True)
    assert (rule, statistics.count_found(halves[1], rule, candidates=True)) == (statistics.FIRST, 13)


def test_a_head_beside_a_guess_has_the_binomial_test() -> None:
    hits = np.zeros((20, 1, 1, 1), bool)
    hits[:17] = True
    counts = RelationCounts.from_hits([(at, 0) for at in range(20)], [0] * 20, hits)
    [row] = rows(HitCounts({(0, "coref"): counts}), corpus("gap"))[:1]
    assert (row.baseline, row.chance, row.baseline_name) == (50.0, 50.0, "a guess between the two")
    assert row.p == pytest.approx(binomtest(17, 20).pvalue)


def test_wilson_intervals_are_those_of_the_formula() -> None:
    # By hand: both ends satisfy |p - share| = z·sqrt(p(1 - p)/n).
    for hits, n in ((0, 10), (3, 10), (10, 10), (700, 1000)):
        for end in wilson(hits, n):
            p = end / 100
            assert abs(p - hits / n) == pytest.approx(1.959963984540054 * (p * (1 - p) / n) ** 0.5, abs=1e-7)
        low, high = wilson(hits, n)
        assert 0 <= low <= 100 * hits / n <= high <= 100
        scipys = binomtest(hits, n).proportion_ci(method="wilson")
        assert (low, high) == pytest.approx((100 * scipys.low, 100 * scipys.high), abs=1e-10)
    assert wilson(0, 0) == (0, 100)


def test_there_is_a_row_for_every_head_and_relation() -> None:
    found = rows(filled(), corpus())
    places = [(row.relation, row.layer, row.head) for row in found]
    assert len(places) == len(set(places)) == 4 * LAYERS * HEADS
    hits = random_hits(5)[[0, 2, 4]].sum(axis=0)
    for row in found:
        if row.relation == "det":
            both = hits[:, row.layer, row.head]
            assert row.accuracy == pytest.approx(100 * both.max() / 3)
            assert row.direction == corpus().directions[int(both.argmax())]
            assert (row.n, row.baseline_name) == (3, "always the next word")
            assert row.baseline == pytest.approx(200 / 3)
            assert row.low < row.accuracy + 1e-9
            assert row.accuracy < row.high + 1e-9


def test_candidates_are_scored_in_the_direction_that_is_annotated() -> None:
    hits = np.zeros((2, 2, LAYERS, HEADS), bool)
    hits[:, 1] = True  # Hits in the other direction must not count.
    links = (Link("coref", 0, 1, (2,)), Link("coref", 0, 3, (1,)))
    tally = HitCounts()
    tally.add(corpus("gap", (item(*links),)), [0], hits, np.ones(2, bool))
    found = rows(tally, corpus("gap"))
    assert {row.accuracy for row in found} == {0}
    assert {(row.baseline, row.baseline_name) for row in found} == {(50.0, "nearest candidate")}
    assert {row.relation for row in found} == {"coref"}


def counts(found: np.ndarray, cues: dict[int, int], half: int = 0) -> RelationCounts:
    """Return counts with a single link per sentence.

    Each head finds its first ``found`` links; ``found`` has axes (direction, layer, head).
    """
    needed = [cue for cue, times in cues.items() for _ in range(times)]
    hits = np.arange(len(needed))[:, None, None, None] < found
    return RelationCounts.from_hits([(2 * at + half, 0) for at in range(len(needed))], needed, hits)


def halves(first: np.ndarray, second: np.ndarray) -> HitCounts:
    return HitCounts({(0, "det"): counts(first, {1: 6, -1: 4}), (1, "det"): counts(second, {1: 2, -1: 8}, half=1)})


def test_the_head_is_chosen_on_one_half_and_reported_on_the_other() -> None:
    first, second = np.zeros((2, 2, LAYERS, HEADS), np.int64)
    first[1, 1, 2], second[1, 1, 2] = 9, 5
    second[0, 0, 1] = 10  # This head is best on the reporting half, which must not affect the selection.
    row = present(held_out_best(halves(first, second), corpus(), "det"))
    assert (row.layer, row.head, row.direction) == (1, 2, "head to dependent")
    assert (row.accuracy, row.n) == (50, 10)
    assert (row.baseline_name, row.baseline) == ("always the next word", 20)


def test_a_split_chooses_head_direction_and_offset() -> None:
    first, second = np.zeros((2, 2, LAYERS, HEADS), np.int64)
    first[0, 1, 0], second[1, 1, 0] = 4, 9
    split = HitCounts({(0, "det"): counts(first, {-1: 7, 1: 3})})
    tally = halves(first, second)
    row = present(held_out_best(tally, corpus(), "det", split))
    assert (row.layer, row.head, row.direction, row.accuracy, row.n) == (1, 0, "dependent to head", 20, 20)
    assert (row.baseline_name, row.baseline) == ("always the word before", 60)
    [same] = [r for r in rows(tally, corpus(), split) if (r.layer, r.head) == (1, 0)]
    assert replace(same, p=row.p) == row  # There, p is corrected for all heads.
    assert same.p >= row.p


def test_nothing_is_chosen_where_one_half_is_empty() -> None:
    tally = HitCounts({(0, "det"): counts(np.ones((2, LAYERS, HEADS), np.int64), {1: 1})})
    assert held_out_best(tally, corpus(), "det") is None
    assert len(rows(tally, corpus())) == LAYERS * HEADS


def test_a_relation_s_name_is_no_formula_in_a_spreadsheet() -> None:
    (found, *_) = rows(filled(), corpus())
    lines = to_csv([replace(found, relation="=1+1", baseline_name="@x")]).splitlines()
    assert lines[1].startswith("'=1+1,")
    assert ",'@x," in lines[1]


def test_files_hold_the_rows() -> None:
    found = rows(filled(), corpus())
    names = ["relation", "layer", "head", "direction", "accuracy", "n", "baseline", "baseline_name", "chance"]
    names += ["low", "high", "p"]
    assert json.loads(to_json(found)) == [asdict(row) for row in found]
    read = list(csv.DictReader(io.StringIO(to_csv(found))))
    assert list(read[0]) == list(json.loads(to_json(found))[0]) == names
    assert [float(line["accuracy"]) for line in read] == [row.accuracy for row in found]
