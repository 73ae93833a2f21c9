"""The rate at which the page Side by side claims by chance that a head reacts to the meaning of texts.

Each simulated set has pairs of texts whose meaning differs, and control pairs that differ only in wording. Neither kind
changes a head more, so every claim of a larger change with the meaning is a false positive. The rate is reported per
set, for any head. The rate by each head's own interval, without correction, is reported for comparison. Some scenarios
are synthetic. Others use the embedded model's changes in control pairs, of which a random pair per text is labelled as
a change of meaning.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bench.report import ReportRow, upper_limit_row
from probing.statistics import LEVEL
from probing.text_pairs import Bools, ControlledChange, Integers, Numbers, compare_with_control

TIMES = 1000  # number of simulated sets
HEADS = 72  # heads of the embedded model
KINDS = 12  # heads in a group
TEXTS, WORDINGS = 17, 3  # as in the app; each text has one change of meaning
SPREAD, TAIL = 0.6, 1.5  # standard deviations of the logarithm of a divergence
LARGER = 3.0  # factor for a head that changes with the meaning
TOLD = "told, no bar"

Random = np.random.Generator


@dataclass(frozen=True, eq=False)
class DivergenceSample:
    """Simulated divergences of a head's attention maps between the texts of a pair, shape (pair, head).

    ``control`` (pair,) is True for control pairs, whose texts differ only in wording. ``groups`` (pair,) is the number
    of the text from which a pair is derived.
    """

    values: Numbers
    control: Bools
    groups: Integers

    def verdict(self) -> ControlledChange:
        """Run the test of the page Side by side on this sample and return its result."""
        return compare_with_control(self.values, self.control, self.groups)


@dataclass(frozen=True)
class DivergenceScenario:
    """A way to draw divergences in which meaning has no effect on any head.

    ``words`` is its description in the report. If ``bar`` is False, its rate is reported without a limit.
    """

    words: str
    draw: Callable[[Random], DivergenceSample]
    bar: bool = True


def measure() -> Iterator[ReportRow]:
    """Yield a row with the false-positive rate of each scenario, and a row with the power of the test."""
    limit = LEVEL + 2 * (LEVEL * (1 - LEVEL) / TIMES) ** 0.5  # tolerance for the sampling error of the rate
    for world in (*WORLDS, _embedded_scenario()):
        random = np.random.default_rng(0)
        wrong, before = np.mean([_any_more(world.draw(random).verdict()) for _ in range(TIMES)], axis=0)
        what, note = f"any of {HEADS} heads said to change more; {world.words}", _note(before)
        yield (
            upper_limit_row(what, limit, wrong, f"{wrong:.3f}", note)
            if world.bar
            else ReportRow(what, TOLD, f"{wrong:.3f}", None, note)
        )
    random = np.random.default_rng(1)
    found = np.mean([0 in moved_set(random).verdict().more_heads for _ in range(TIMES)])
    what = f"the one head that changes {LARGER:g} times as much with the meaning is said to"
    yield ReportRow(what, TOLD, f"{found:.2f}", None, _note())


def layout(texts: Sequence[tuple[int, int]]) -> tuple[Bools, Integers]:
    """Return two arrays (pair,): a flag for control pairs, and the number of each pair's text.

    ``texts`` has two numbers for each text: its pairs with a change of meaning, and its control pairs.

    >>> control, groups = layout([(1, 2), (1, 0)])
    >>> control.tolist(), groups.tolist()
    ([False, True, True, False], [0, 0, 0, 1])
    """
    control = [kind for changes, controls in texts for kind in [False] * changes + [True] * controls]
    return np.array(control), np.repeat(np.arange(len(texts)), [sum(both) for both in texts])


USUAL = ((1, WORDINGS),) * TEXTS


def independent_pairs(
    random: Random, spread: float = SPREAD, texts: Sequence[tuple[int, int]] = USUAL
) -> DivergenceSample:
    """Draw log-normal divergences, independent for every pair and head; ``texts`` is as in ``layout``."""
    control, groups = layout(texts)
    return DivergenceSample(random.lognormal(-4, spread, (len(control), HEADS)), control, groups)


def correlated_pairs(random: Random) -> DivergenceSample:
    """Draw divergences with a common factor for the pairs of a text, and similar values in groups of heads."""
    control, groups = layout(USUAL)
    text = random.lognormal(0, 1, (TEXTS, 1))[groups]
    kinds = np.repeat(random.lognormal(-4, SPREAD, (len(control), HEADS // KINDS)), KINDS, axis=1)
    return DivergenceSample(text * kinds * random.lognormal(0, 0.1, kinds.shape), control, groups)


def tied_pairs(random: Random) -> DivergenceSample:
    """Draw divergences with ties: half are 0, and the other half have one of four values."""
    control, groups = layout(USUAL)
    shape = (len(control), HEADS)
    return DivergenceSample(random.integers(1, 5, shape) * (random.random(shape) < 0.5) / 100, control, groups)


def unequal_variance_pairs(random: Random, wild: bool) -> DivergenceSample:
    """Draw divergences of equal mean that have a longer tail in one kind of pairs.

    These are the control pairs if ``wild`` is True, and otherwise the pairs with a change of meaning.
    """
    drawn = independent_pairs(random)
    long = random.lognormal(-4 + (SPREAD**2 - TAIL**2) / 2, TAIL, drawn.values.shape)
    return DivergenceSample(np.where((drawn.control == wild)[:, None], long, drawn.values), drawn.control, drawn.groups)


def moved_set(random: Random) -> DivergenceSample:
    """Draw divergences whose first head really changes more with the meaning, to measure the test's power."""
    drawn = independent_pairs(random)
    drawn.values[~drawn.control, 0] *= LARGER
    return drawn


WORLDS = (
    DivergenceScenario(f"{TEXTS} texts, pairs and heads apart", independent_pairs),
    DivergenceScenario("the same with a long tail", partial(independent_pairs, spread=TAIL)),
    DivergenceScenario(f"texts moved more and less, heads alike in kinds of {KINDS}", correlated_pairs),
    DivergenceScenario("half of the divergences 0, the others of four sizes", tied_pairs),
    DivergenceScenario("6 texts, long tail", partial(independent_pairs, spread=TAIL, texts=((1, WORDINGS),) * 6)),
    DivergenceScenario(
        "texts of all kinds: one pair of each, many, controls alone, changes alone",
        partial(
            independent_pairs, texts=((1, 1),) * 6 + ((2, 7),) * 3 + ((1, WORDINGS),) * 3 + ((0, 2), (0, 2), (3, 0))
        ),
    ),
    DivergenceScenario(
        "20 changes and 20 controls of other texts, long tail",
        partial(independent_pairs, spread=TAIL, texts=((1, 0),) * 20 + ((0, 1),) * 20),
    ),
    # The test assumes exchangeability, but here only the means are equal. The rate is reported without a limit.
    DivergenceScenario(
        "level on the mean, changes with a far longer tail", partial(unequal_variance_pairs, wild=False), bar=False
    ),
    DivergenceScenario(
        "level on the mean, controls with a far longer tail", partial(unequal_variance_pairs, wild=True), bar=False
    ),
)


def _embedded_scenario() -> DivergenceScenario:
    """Return the scenario of the embedded model's changes in pairs that differ only in wording."""
    from attention.comparison import AlignedViews, changes, same_heads
    from attention.view import View
    from inference import LocalBackend, TraceRequest
    from probing.text_pairs import TextPair, groups
    from ui.paths import ASSETS

    probes = json.loads((ASSETS / "probes.json").read_text(encoding="utf-8"))
    english = [probe for probe in probes if probe["language"] == "English"]
    pairs = [TextPair(probe["text"], neutral, control=True) for probe in english for neutral in probe["neutral"]]
    backend = LocalBackend()
    bits = []
    for pair in pairs:
        views = [View(backend.trace(TraceRequest(text=text))) for text in (pair.a, pair.b)]
        heads = same_heads(*views)
        assert heads is not None  # both texts have the same model
        bits.append(changes(AlignedViews.align(*views), heads).bits.reshape(-1))
    values, members = np.array(bits, np.float64), np.array(groups(pairs))
    words = f"the model's own changes where only the wording does, {len(pairs)} pairs of {len(set(members))} texts"
    return DivergenceScenario(words, partial(permuted_pairs, values=values, groups=members))


def permuted_pairs(random: Random, values: Numbers, groups: Integers) -> DivergenceSample:
    """Label a random pair of each text as the change of meaning, and the other pairs as controls."""
    control = np.ones(len(groups), bool)
    for group in np.unique(groups):
        control[random.choice(np.flatnonzero(groups == group))] = False
    return DivergenceSample(values, control, groups)


def _any_more(told: ControlledChange) -> tuple[float, float]:
    """Return two indicators of a false positive: by the corrected test, and by a head's own interval.

    Each is 1 or 0; the interval's is NaN if there are no intervals.
    """
    return float(told.more_heads.size > 0), float((told.more.low > 0).any()) if told.within else np.nan


def _note(before: float = np.nan) -> str:
    sets = f"{TIMES:,} sets, permutation test corrected by Holm's method"
    return sets if np.isnan(before) else f"{sets}; by each head's own interval {before:.2f}"
