"""Simulations of data without any effect: the rates at which chance alone leads to a claim of the app."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from attention.annotations import AnnotatedText
from attention.mask import BoolArray, FloatArray
from bench.report import ReportRow, upper_limit_row
from probing.corpus import HALVES, AnnotatedCorpus
from probing.fine_tuning_changes import lead_threshold, mean_lead
from probing.results import held_out_best, name_heads, of_relation, rule
from probing.score import HitCounts, RelationCounts
from probing.statistics import COMPARED, FIRST, LEVEL, MOVED, NEAREST, SUBJECT, Integers, count_by_chance

TIMES = 1000  # number of simulated sets
LUCK_SENTENCES, LINKS = 60, 6  # as in the app's ready-made set
SHAPE = (2, 6, 12)  # (direction, layer, head) of the embedded model
TESTS = int(np.prod(SHAPE))
SHARE, BETTER = 0.6, 0.8  # hit rates of rule and heads, and of a better head
EXTREME = 0.9
OWN = ("all", "det", "nsubj")  # relations of the app's ready-made set
LUCK_RELATION = "drawn"
UNLIKE = tuple(AnnotatedText(str(at), (), ()) for at in range(LUCK_SENTENCES))  # different, so independent
TREES = AnnotatedCorpus("conllu", UNLIKE, ("dependent to head", "head to dependent"), "", together=False)
TOLD = "told, no bar"

Random = np.random.Generator


@dataclass(frozen=True, eq=False)
class LinkSample:
    """Simulated links, with flags for those that the baseline rule finds and those that each head finds.

    ``sentences`` (link,) is the number of each link's sentence. ``by_rule`` (link,) is True for the links that the rule
    finds, and ``by_heads`` for those that each head finds.
    """

    sentences: Integers  # (link,)
    by_rule: BoolArray  # (link,)
    by_heads: BoolArray  # (link, test)

    def tally(self, halves: int = 1) -> HitCounts:
        """Return the sample as counts of hits, in the form that scoring a corpus returns.

        The sentences are divided into ``halves`` parts of equal size. The baseline rule is "distance 1": links that it
        should find (``by_rule``) have this distance, all others a larger distance.
        """
        counts = {}
        for half in range(halves):
            mine = np.flatnonzero(self.sentences % halves == half)
            places = [(int(self.sentences[at]), int(at)) for at in mine]
            needed = np.where(self.by_rule[mine], 1, 2 + mine)
            counts[half, LUCK_RELATION] = RelationCounts.from_hits(
                places, needed.tolist(), self.by_heads[mine].reshape(-1, *SHAPE)
            )
        return HitCounts(counts)


@dataclass(frozen=True)
class HitScenario:
    """A way to draw simulated hits in which no head is better than the baseline rule.

    A hit is a link that a head or the rule finds. ``words`` is the description of the scenario in the report. If
    ``bar`` is False, its rate is reported without a limit.
    """

    words: str
    draw: Callable[[Random], LinkSample]
    bar: bool = True


def measure_links() -> Iterator[ReportRow]:
    """Yield rows with rates of false claims that a head is better than a rule, or has a relation.

    The last row is the power of the test: how often a head that is really better is found.
    """
    for world in (*LUCK_WORLDS, *_embedded_scenarios()):
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
    """Draw hits that are independent for every link and head."""
    return _set(random.random((LUCK_SENTENCES, LINKS, 1 + TESTS)) < SHARE)


def correlated_links(random: Random, better: int = 0) -> LinkSample:
    """Draw hits with correlation within sentences: a sentence is easy or hard for a head.

    The first ``better`` heads have the mean hit rate BETTER.
    """
    means = np.full(1 + TESTS, SHARE)
    means[1 : 1 + better] = BETTER
    ease = random.beta(2 * means, 2 * (1 - means), (LUCK_SENTENCES, 1, len(means)))
    return _set(random.random((LUCK_SENTENCES, LINKS, len(means))) < ease)


def kin(random: Random) -> LinkSample:
    """Draw hits of similar heads: in each group of twelve, a head copies the first head on nine of ten links."""
    kinds = correlated_links(random)
    first = np.repeat(np.arange(0, TESTS, 12), 12)
    other = random.random(kinds.by_heads.shape) < 0.1
    return LinkSample(kinds.sentences, kinds.by_rule, np.where(other, kinds.by_heads, kinds.by_heads[:, first]))


def clustered_links(random: Random, share: float) -> LinkSample:
    """Draw heads that find either all links of a sentence or none, at the rate ``share``.

    The rule's hits are independent.
    """
    heads = np.repeat(random.random((LUCK_SENTENCES, 1, TESTS)) < share, LINKS, axis=1)
    return _set(np.concatenate([random.random((LUCK_SENTENCES, LINKS, 1)) < share, heads], axis=2))


LUCK_WORLDS = (
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
    """Draw sentences of ``own`` with replacement; random changes give each head the hit rate of the rule."""
    share, heads = own.by_rule.mean(), own.by_heads.mean(axis=0)
    members = [
        np.flatnonzero(own.sentences == name) for name in random.choice(np.unique(own.sentences), LUCK_SENTENCES)
    ]
    at = np.concatenate(members)
    luck = random.random((len(at), TESTS))
    kept = own.by_heads[at] & (luck * heads < share)
    guessed = ~own.by_heads[at] & (luck * (1 - heads) < share - heads)
    return LinkSample(
        np.repeat(np.arange(LUCK_SENTENCES), [len(some) for some in members]), own.by_rule[at], kept | guessed
    )


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
    flat = hits.reshape(LUCK_SENTENCES * LINKS, -1)
    return LinkSample(np.repeat(np.arange(LUCK_SENTENCES), LINKS), flat[:, 0], flat[:, 1:])


def _any_more(drawn: LinkSample) -> tuple[bool, bool]:
    """Return two indicators of a false positive: by the corrected test, and by a head's own interval.

    The test's indicator is True for the verdicts more and less, the interval's only for more.
    """
    found = of_relation(drawn.tally(), TREES, LUCK_RELATION)
    return any(row.verdict != "not clearly more" for row in found), any(row.low > row.baseline for row in found)


def _any_named(drawn: LinkSample) -> bool:
    return any(row.more for row in name_heads([(drawn.tally(HALVES), TREES)]).values())


def _first_is_more(drawn: LinkSample) -> bool:
    return of_relation(drawn.tally(), TREES, LUCK_RELATION)[0].more


def _note(before: float | None = None) -> str:
    sets = f"{TIMES:,} sets of {LUCK_SENTENCES} sentences, corrected by Holm's method"
    return sets if before is None else f"{sets}; by each head's own interval {before:.2f}"


LUCK_CLAIMS_SENTENCES = 40  # sentences with a pronoun, as in the app's ready-made set
PRONOUNS = AnnotatedCorpus("csv", UNLIKE, ("source to target", "target to source"), "")
LUCK_CLAIMS_RELATION = "coref"
POOL = 60  # random changes per head in the pool that sets are drawn from
TEXTS = (
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
)
LUCK_CLAIMS_WORLDS = {  # standard deviations of trainings, layers and heads; of the distance's logarithm if True
    "trainings differ as a whole": (1.0, 0.0, 0.0, False),
    "trainings and layers differ": (1.0, 0.5, 0.3, False),
    "layers differ": (0.0, 1.0, 0.3, False),
    "heads differ": (0.0, 0.0, 1.0, False),
    "trainings differ by a factor, layers and heads by less": (0.8, 0.2, 0.1, True),
}


def measure_claims() -> Iterator[ReportRow]:
    """Yield a row with the rate of false claims for each kind of claim and each scenario."""
    yield from rules()
    yield random_change_row()
    for words, spread in LUCK_CLAIMS_WORLDS.items():
        random = np.random.default_rng(0)
        wrong = np.mean([any_beyond(trainings(random, *spread)) for _ in range(TIMES)])
        yield _row(f"Teach: any of 72 heads beyond chance in a training like its twins; {words}", float(wrong))


def rules() -> Iterator[ReportRow]:
    """Yield rows with the rate of false claims of the page Measure that a head differs from simple rules.

    The claims come from simulated heads and rules that guess between two candidates, so every claim is false.
    """
    random = np.random.default_rng(0)
    sets = [pronouns(random) for _ in range(TIMES)]
    best = [held_out_best(tally, PRONOUNS, LUCK_CLAIMS_RELATION) for tally in sets]
    wrong = np.mean([row is not None and row.verdict != "not clearly more" for row in best])
    yield _row(
        "Measure: the best head of guessing heads is called more or less than the best of three rules", float(wrong)
    )
    wrong = np.mean([any(row.more for row in of_relation(tally, PRONOUNS, LUCK_CLAIMS_RELATION)) for tally in sets])
    yield _row("Measure: any of 72 guessing heads is called more than the best of three rules", float(wrong))


def pronouns(random: Random) -> HitCounts:
    """Draw links between a pronoun and two candidates; each head and rule finds half of them by chance.

    The nearer candidate is never the first in the text.
    """
    counts = {}
    for half in range(HALVES):
        places = [(at, 0) for at in range(half, LUCK_CLAIMS_SENTENCES, HALVES)]
        near, subject = random.random((2, len(places))) < 0.5
        needed = np.where(near, NEAREST, FIRST) + np.where(subject, SUBJECT, 0)
        counts[half, LUCK_CLAIMS_RELATION] = RelationCounts.from_hits(
            places, needed.tolist(), random.random((len(places), *SHAPE)) < 0.5
        )
    return HitCounts(counts)


def random_change_row() -> ReportRow:
    """Return a row that checks a statement of the pages Similarity and Activation patching on random changes.

    The pages state how many heads exceed all their random changes by chance, as a range. The row has the rate at which
    the number is outside this range if every change is random.
    """
    pool, random = _pool(), np.random.default_rng(0)
    mean, low, high = count_by_chance(pool[..., 0].size)
    outside, counts = [], []
    for _ in range(TIMES):
        drawn = np.take_along_axis(pool, random.random(pool.shape).argsort(axis=-1)[..., : 1 + COMPARED], axis=-1)
        many = int((drawn[..., 0] > np.maximum(drawn[..., 1:].max(axis=-1), MOVED)).sum())
        outside.append(not low <= many <= high)
        counts.append(many)
    note = f"{TIMES:,} sets from {POOL} draws of each head; {np.mean(counts):.1f} heads on average, {mean:.1f} stated"
    return _row(
        "Activation patching: random changes of all heads fall outside the range stated", float(np.mean(outside)), note
    )


def _pool() -> FloatArray:
    """Return the effect of random changes of each head on the sentence vector, shape (layer, head, draw)."""
    from dataclasses import replace

    from attention.comparison import align
    from attention.edits import head_patches, paired_tokens, random_patches
    from attention.edits import patching_effect as shares
    from attention.view import View
    from inference import LocalBackend, TraceRequest
    from inference.request import EMBEDDED
    from inference.runners import edit_effects
    from inference.tasks.edit_effects import VectorEffects

    backend = LocalBackend()
    left, right = (View(trace) for trace in backend.traces([TraceRequest(text=text) for text in TEXTS]))
    pairs = paired_tokens(left, right, align(left, right)[0])
    heads = head_patches([*product(range(left.layers), range(left.heads))], pairs)
    sets = [random_patches(head, at * POOL + draw) for at, head in enumerate(heads) for draw in range(POOL)]
    here, there = (VectorEffects(EMBEDDED, text=text) for text in TEXTS)
    loaded = backend.loaded(EMBEDDED, None, here.HEAD)
    ends = [edit_effects.answer(loaded, question).values[0] for question in (here, there)]
    asked = [replace(here, edits=tuple(sets[at : at + 500]), other=there) for at in range(0, len(sets), 500)]
    found = np.concatenate([edit_effects.answer(loaded, question).values for question in asked])
    return shares(found, *ends).reshape(left.layers, left.heads, POOL)


def trainings(random: Random, whole: float, layers: float, heads: float, factor: bool) -> FloatArray:
    """Draw how far each head moves in three trainings without any effect, (training, layer, head) in bits.

    ``whole``, ``layers`` and ``heads`` are the standard deviations of random changes that all heads of a training
    share, that the heads of a layer share, and that each head has. With ``factor``, the logarithm of a head's distance
    changes, else the distance itself, by tenths of its usual value.
    """
    parts = ((whole, (3, 1, 1)), (layers, (3, 6, 1)), (heads, (3, 6, 12)))
    drawn = sum(spread * random.normal(size=shape) for spread, shape in parts) + np.zeros((3, 6, 12))
    usual = random.uniform(0.1, 0.6, (1, 6, 12))
    distance = usual * np.exp(drawn) if factor else np.clip(usual * (1 + drawn / 10), 0, None)
    return (np.clip(distance, 0, None) ** 2).astype(np.float32)


def any_beyond(moved: FloatArray) -> bool:
    """Return True if fine-tuning seems to move a head beyond chance, by the app's threshold.

    ``moved`` is (training, layer, head). The first training represents the fine-tuning, and the other two its controls.
    """
    task, *twins = moved
    return bool((mean_lead(task, twins) > lead_threshold(twins)).any())


def _row(what: str, wrong: float, note: str = f"{TIMES:,} null sets") -> ReportRow:
    limit = LEVEL + 2 * (LEVEL * (1 - LEVEL) / TIMES) ** 0.5
    return upper_limit_row(what, limit, wrong, f"{wrong:.3f}", note)
