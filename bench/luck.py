"""False-positive rate of the verdicts "more" and "less" than the rule, on sets with no better head.

Each set is scored as on the pages Measure and Roles. It counts as a false positive if any head has either verdict.
For comparison, the rate of each head's own interval, link by link and without correction, is also reported. The
scenarios are synthetic or resampled from the embedded model's hits, which are randomly changed so that each head's
hit rate equals that of the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from attention.mask import BoolArray
from bench.report import ReportRow, upper_limit_row
from probing.corpus import AnnotatedCorpus
from probing.results import name_heads, of_relation, rule
from probing.score import HALVES, HitCounts, RelationCounts
from probing.statistics import LEVEL, Integers

TIMES = 1000  # number of simulated sets
SENTENCES, LINKS = 60, 6  # as in the app's ready-made set
SHAPE = (2, 6, 12)  # (direction, layer, head) of the embedded model
TESTS = int(np.prod(SHAPE))
SHARE, BETTER = 0.6, 0.8  # hit rates of rule and heads, and of a better head
EXTREME = 0.9
OWN = ("all", "det", "nsubj")  # relations of the app's ready-made set
RELATION = "drawn"
TREES = AnnotatedCorpus("conllu", (), ("dependent to head", "head to dependent"), "", together=False)
TOLD = "told, no bar"

Random = np.random.Generator


@dataclass(frozen=True, eq=False)
class LinkSample:
    """Links, and the hits of the rule and of the heads."""

    sentences: Integers  # (link,)
    by_rule: BoolArray  # (link,)
    by_heads: BoolArray  # (link, test)

    def tally(self, halves: int = 1) -> HitCounts:
        """Return the hit counts of the sample, as the scoring of a corpus returns them.

        The rule is distance 1; the distances of the links are set so that it hits as in ``by_rule``.
        """
        counts = {}
        for half in range(halves):
            mine = np.flatnonzero(self.sentences % halves == half)
            places = [(int(self.sentences[at]), int(at)) for at in mine]
            needed = np.where(self.by_rule[mine], 1, 2 + mine)
            counts[half, RELATION] = RelationCounts.from_hits(
                places, needed.tolist(), self.by_heads[mine].reshape(-1, *SHAPE)
            )
        return HitCounts(counts)


@dataclass(frozen=True)
class HitScenario:
    """A distribution of hits in which no head is better than the rule."""

    words: str
    draw: Callable[[Random], LinkSample]
    bar: bool = True


def measure() -> Iterator[ReportRow]:
    """Yield rows for each scenario, for names of heads, and for the power of the test."""
    for world in (*WORLDS, *_embedded_scenarios()):
        random = np.random.default_rng(0)
        wrong, before = np.mean([_any_more(world.draw(random)) for _ in range(TIMES)], axis=0)
        what, note = f"any of 72 heads called more or less than the rule; {world.words}", _note(before)
        yield (
            upper_limit_row(what, LEVEL, wrong, f"{wrong:.3f}", note)
            if world.bar
            else ReportRow(what, TOLD, f"{wrong:.3f}", None, note)
        )
    random = np.random.default_rng(1)
    wrong = float(np.mean([_any_named(correlated_links(random)) for _ in range(TIMES)]))
    yield upper_limit_row(
        "any of 72 heads named after a relation; told on the other half", LEVEL, wrong, f"{wrong:.3f}", _note()
    )
    random = np.random.default_rng(2)
    found = float(np.mean([_first_is_more(correlated_links(random, better=1)) for _ in range(TIMES)]))
    what = f"the one head that finds {BETTER:.0%} where the rule and the others find {SHARE:.0%} is called more"
    yield ReportRow(what, TOLD, f"{found:.2f}", None, _note())


def independent_links(random: Random) -> LinkSample:
    """Draw independent hits for every link and head."""
    return _set(random.random((SENTENCES, LINKS, 1 + TESTS)) < SHARE)


def correlated_links(random: Random, better: int = 0) -> LinkSample:
    """Draw hits with a random difficulty of each sentence for each head, which correlates its links.

    The first ``better`` heads have the hit rate BETTER.
    """
    means = np.full(1 + TESTS, SHARE)
    means[1 : 1 + better] = BETTER
    ease = random.beta(2 * means, 2 * (1 - means), (SENTENCES, 1, len(means)))
    return _set(random.random((SENTENCES, LINKS, len(means))) < ease)


def kin(random: Random) -> LinkSample:
    """Draw hits of groups of twelve heads, which share their hits except for one link in ten."""
    kinds = correlated_links(random)
    first = np.repeat(np.arange(0, TESTS, 12), 12)
    other = random.random(kinds.by_heads.shape) < 0.1
    return LinkSample(kinds.sentences, kinds.by_rule, np.where(other, kinds.by_heads, kinds.by_heads[:, first]))


def clustered_links(random: Random, share: float) -> LinkSample:
    """Draw heads that hit all links of a sentence or none; the rule's hits are independent."""
    heads = np.repeat(random.random((SENTENCES, 1, TESTS)) < share, LINKS, axis=1)
    return _set(np.concatenate([random.random((SENTENCES, LINKS, 1)) < share, heads], axis=2))


WORLDS = (
    HitScenario("links apart", independent_links),
    HitScenario("links of a sentence alike", correlated_links),
    HitScenario("links alike, and heads alike in kinds of twelve", kin),
    # The test assumes exchangeability, but here only the means are equal. The rate is reported without a limit.
    HitScenario(
        f"heads find {SHARE:.0%}, all of a sentence or nothing", partial(clustered_links, share=SHARE), bar=False
    ),
    HitScenario(
        f"the same, {EXTREME:.0%}: a head fails seldom, then six links at once",
        partial(clustered_links, share=EXTREME),
        bar=False,
    ),
)


def resampled_links(random: Random, own: LinkSample) -> LinkSample:
    """Resample sentences of ``own``, with random changes that make each head's hit rate equal the rule's."""
    share, heads = own.by_rule.mean(), own.by_heads.mean(axis=0)
    members = [np.flatnonzero(own.sentences == name) for name in random.choice(np.unique(own.sentences), SENTENCES)]
    at = np.concatenate(members)
    luck = random.random((len(at), TESTS))
    kept = own.by_heads[at] & (luck * heads < share)
    guessed = ~own.by_heads[at] & (luck * (1 - heads) < share - heads)
    return LinkSample(np.repeat(np.arange(SENTENCES), [len(some) for some in members]), own.by_rule[at], kept | guessed)


def _embedded_scenarios() -> Iterator[HitScenario]:
    """Yield scenarios from the embedded model's hits in the app's ready-made set."""
    from inference.backend import LocalBackend
    from probing.formats import load_ready_set
    from probing.score import ScoringRun, score

    corpus = load_ready_set("grammar")
    *_, state = score(LocalBackend(), ScoringRun(corpus))
    for relation in OWN:
        counts = state.tally.counts_of(relation)
        assert counts is not None
        own = LinkSample(
            counts.sentences, counts.needed == rule(counts, corpus, counts), counts.hits.reshape(counts.n, TESTS)
        )
        yield HitScenario(
            f"the model's own hits brought level, {relation}, {counts.n} links", partial(resampled_links, own=own)
        )


def _set(hits: BoolArray) -> LinkSample:
    """Return a sample from hits of shape (sentence, link, test), the rule first."""
    flat = hits.reshape(SENTENCES * LINKS, -1)
    return LinkSample(np.repeat(np.arange(SENTENCES), LINKS), flat[:, 0], flat[:, 1:])


def _any_more(drawn: LinkSample) -> tuple[bool, bool]:
    """Return two indicators of a false positive: by the corrected test, and by a head's own interval.

    The test's indicator is True for the verdicts more and less, the interval's only for more.
    """
    found = of_relation(drawn.tally(), TREES, RELATION)
    return any(row.verdict != "not clearly more" for row in found), any(row.low > row.baseline for row in found)


def _any_named(drawn: LinkSample) -> bool:
    return any(row.more for row in name_heads([(drawn.tally(HALVES), TREES)]).values())


def _first_is_more(drawn: LinkSample) -> bool:
    return of_relation(drawn.tally(), TREES, RELATION)[0].more


def _note(before: float | None = None) -> str:
    sets = f"{TIMES:,} sets of {SENTENCES} sentences, corrected by Holm's method"
    return sets if before is None else f"{sets}; by each head's own interval {before:.2f}"
