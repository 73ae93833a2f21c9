"""False-positive rates of claims about rules, random changes and fine-tuned heads.

Each null set is counted as on the page. The sets are synthetic or, for random changes, drawn from the embedded
model.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from attention.mask import FloatArray
from bench.report import ReportRow, upper_limit_row
from probing.corpus import AnnotatedCorpus
from probing.fine_tuning_changes import lead_threshold, mean_lead
from probing.results import held_out_best, of_relation
from probing.score import HALVES, HitCounts, RelationCounts
from probing.statistics import FIRST, LEVEL, NEAREST, SUBJECT, bands, by_luck

TIMES = 1000  # number of null sets
SENTENCES = 40  # sentences with a pronoun, as in the app's ready-made set
SHAPE = (2, 6, 12)  # (direction, layer, head) of the embedded model
PRONOUNS = AnnotatedCorpus("csv", (), ("source to target", "target to source"), "")
RELATION = "coref"
POOL, DRAWS = 40, 4  # random changes per head: in the pool that sets are drawn from, and on the page
TEXTS = (
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
)
WORLDS = {  # standard deviations of trainings, layers and heads; of the distance's logarithm if True
    "trainings differ as a whole": (1.0, 0.0, 0.0, False),
    "trainings and layers differ": (1.0, 0.5, 0.3, False),
    "layers differ": (0.0, 1.0, 0.3, False),
    "heads differ": (0.0, 0.0, 1.0, False),
    "trainings differ by a factor, layers and heads by less": (0.8, 0.2, 0.1, True),
}

Random = np.random.Generator


def measure() -> Iterator[ReportRow]:
    """Yield a row for each claim and scenario."""
    yield from rules()
    yield random_change_row()
    for words, spread in WORLDS.items():
        random = np.random.default_rng(0)
        wrong = np.mean([any_beyond(trainings(random, *spread)) for _ in range(TIMES)])
        yield _row(f"Teach: any of 72 heads beyond chance in a training like its twins; {words}", float(wrong))


def rules() -> Iterator[ReportRow]:
    """Yield rows for heads that guess between two candidates, against the best of three guessing rules."""
    random = np.random.default_rng(0)
    sets = [pronouns(random) for _ in range(TIMES)]
    best = [held_out_best(tally, PRONOUNS, RELATION) for tally in sets]
    wrong = np.mean([row is not None and row.verdict != "not clearly more" for row in best])
    yield _row(
        "Measure: the best head of guessing heads is called more or less than the best of three rules", float(wrong)
    )
    wrong = np.mean([any(row.more for row in of_relation(tally, PRONOUNS, RELATION)) for tally in sets])
    yield _row("Measure: any of 72 guessing heads is called more than the best of three rules", float(wrong))


def pronouns(random: Random) -> HitCounts:
    """Return links that heads and rules hit half of the time by guessing.

    The nearer of the two candidates is never the first.
    """
    counts = {}
    for half in range(HALVES):
        places = [(at, 0) for at in range(half, SENTENCES, HALVES)]
        near, subject = random.random((2, len(places))) < 0.5
        needed = np.where(near, NEAREST, FIRST) + np.where(subject, SUBJECT, 0)
        counts[half, RELATION] = RelationCounts.from_hits(
            places, needed.tolist(), random.random((len(places), *SHAPE)) < 0.5
        )
    return HitCounts(counts)


def random_change_row() -> ReportRow:
    """Return a row for random changes of head outputs: how often their number is outside the stated range."""
    pool, random = _pool(), np.random.default_rng(0)
    outside, counts = [], []
    for _ in range(TIMES):
        drawn = np.take_along_axis(pool, random.random(pool.shape).argsort(axis=-1)[..., : 1 + DRAWS], axis=-1)
        rows = drawn[..., 1:].reshape(len(pool), -1)
        many = int((drawn[..., 0] > bands(rows)[:, None]).sum())
        mean, low, high = by_luck(rows, pool.shape[1])
        outside.append(not low <= many <= high)
        counts.append(many)
    note = f"{TIMES:,} sets from {POOL} draws of each head; {np.mean(counts):.1f} heads on average, {mean:.1f} stated"
    return _row(
        "Side by side: random changes of all heads fall outside the range stated", float(np.mean(outside)), note
    )


def _pool() -> FloatArray:
    """Return the effect of random changes of each head on the sentence vector, (layer, head, draw)."""
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
    sets = list(random_patches(head_patches([*product(range(left.layers), range(left.heads))], pairs), POOL))
    here, there = (VectorEffects(EMBEDDED, text=text) for text in TEXTS)
    loaded = backend.loaded(EMBEDDED, None, here.HEAD)
    ends = [edit_effects.answer(loaded, question).values[0] for question in (here, there)]
    asked = [replace(here, edits=tuple(sets[at : at + 500]), other=there) for at in range(0, len(sets), 500)]
    found = np.concatenate([edit_effects.answer(loaded, question).values for question in asked])
    return shares(found, *ends).reshape(left.layers, left.heads, POOL)


def trainings(random: Random, whole: float, layers: float, heads: float, factor: bool) -> FloatArray:
    """Return the distances by which three null trainings move each head, (training, layer, head) in bits."""
    parts = ((whole, (3, 1, 1)), (layers, (3, 6, 1)), (heads, (3, 6, 12)))
    drawn = sum(spread * random.normal(size=shape) for spread, shape in parts) + np.zeros((3, 6, 12))
    usual = random.uniform(0.1, 0.6, (1, 6, 12))
    distance = usual * np.exp(drawn) if factor else np.clip(usual * (1 + drawn / 10), 0, None)
    return (np.clip(distance, 0, None) ** 2).astype(np.float32)


def any_beyond(moved: FloatArray) -> bool:
    """Return True if any head of the first training leads the two others by more than the threshold."""
    task, *twins = moved
    return bool((mean_lead(task, twins) > lead_threshold(twins)).any())


def _row(what: str, wrong: float, note: str = f"{TIMES:,} null sets") -> ReportRow:
    limit = LEVEL + 2 * (LEVEL * (1 - LEVEL) / TIMES) ** 0.5
    return upper_limit_row(what, limit, wrong, f"{wrong:.3f}", note)
