"""Scores of heads as table rows, lists of links, names of heads, and a summary for the terminal."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache

import numpy as np

from attention.annotations import AnnotatedText, Link
from attention.mask import BoolArray
from attention.spreadsheet import safe_cell
from probing import statistics
from probing.corpus import ALL, UNCOUNTED, AnnotatedCorpus
from probing.score import HitCounts, RelationCounts, ScoringState
from probing.statistics import LEVEL, Integers, Numbers, by_sentence, holm, sign_flip_test, verdict, wilson

Place = tuple[int, int, int]  # (direction, layer, head)


@dataclass(frozen=True)
class RelationRow:
    """A head's accuracy on a relation, compared with the best baseline rule; layers and heads count from 0.

    Accuracy is the percentage of the relation's links that the head finds in the direction ``direction``.
    """

    relation: str
    layer: int
    head: int
    direction: str
    accuracy: float  # percent
    n: int  # number of links
    baseline: float  # accuracy in percent of the best baseline rule; never below chance if candidates are given
    baseline_name: str
    chance: float | None  # accuracy in percent of a guess between two candidates; None if every word competes
    low: float  # ends of the 95 % interval of the accuracy in percent, which assumes independent links
    high: float
    p: float  # two-sided paired test against the rule, corrected for all tests in its family

    @property
    def more(self) -> bool:
        """Return True if the head finds significantly more links than the baseline rule."""
        return self.p <= LEVEL and self.accuracy > self.baseline

    @property
    def verdict(self) -> str:
        """Return the result of the test of the head against the baseline rule, by the links that they find.

        The result is "more" or "less" if the difference is significant, else "not clearly more".
        """
        return verdict(self.p, self.accuracy - self.baseline)


def rows(tally: HitCounts, corpus: AnnotatedCorpus, chooser: HitCounts | None = None) -> list[RelationRow]:
    """Return a row for each relation and head, in the direction in which the head finds more links.

    A head finds a link from source to target or the reverse. ``tally`` has the counts of the links to report. The
    direction and the baseline rule are chosen on the counts ``chooser``, by default on ``tally`` itself. For links with
    candidates, the rule is chosen on ``chooser`` and ``tally`` together, which favours the rule. The p-values are
    corrected for all heads and both directions of a relation, so they allow for the choice of the direction.
    """
    return [row for relation in tally.relations() for row in of_relation(tally, corpus, relation, chooser)]


def of_relation(
    tally: HitCounts,
    corpus: AnnotatedCorpus,
    relation: str,
    chooser: HitCounts | None = None,
    direction: int | None = None,
) -> list[RelationRow]:
    """Return a row for each head on the relation ``relation``, which ``tally`` must contain.

    The rows are of one direction, an index of ``corpus.directions``, or of the better direction of each head if
    ``direction`` is None. The other parameters are those of ``rows``.
    """
    counts = tally.counts_of(relation)
    assert counts is not None
    basis = (chooser.counts_of(relation) if chooser else None) or counts
    doubts = holm(_rule_p_values(counts, basis, corpus))
    best = basis.hits_by_head[: len(corpus.directions)].argmax(axis=0)  # (layer, head)
    if direction is not None:
        best[:] = direction
    places = [(int(best[layer, head]), layer, head) for layer, head in np.ndindex(*best.shape)]
    return [row(counts, basis, corpus, relation, place, doubts) for place in places]


def held_out_best(
    tally: HitCounts, corpus: AnnotatedCorpus, relation: str, chooser: HitCounts | None = None
) -> RelationRow | None:
    """Return the best head for a relation, chosen on one part of the data and evaluated on another.

    The best of many heads would look skilled on the links on which it was chosen. The head is therefore chosen on the
    counts ``chooser`` and evaluated on all of ``tally``. Without ``chooser``, it is chosen on half 0 of ``tally`` and
    evaluated on half 1. Return None if the relation does not occur in both parts. The p-value is not corrected for
    several relations; ``correct_together`` does that.
    """
    basis, counts = held_out_parts(tally, relation, chooser)
    if basis is None or counts is None:
        return None
    scores = basis.hits_by_head[: len(corpus.directions)]
    direction, layer, head = (int(at) for at in np.unravel_index(scores.argmax(), scores.shape))
    return row(counts, basis, corpus, relation, (direction, layer, head), _rule_p_values(counts, basis, corpus))


def held_out_parts(
    tally: HitCounts, relation: str, chooser: HitCounts | None
) -> tuple[RelationCounts | None, RelationCounts | None]:
    """Return the counts of a relation on which heads are chosen, and those on which they are evaluated.

    These are the two halves of ``tally``, or ``chooser`` and ``tally``; None if the relation does not occur.
    """
    if chooser:
        return chooser.counts_of(relation), tally.counts_of(relation)
    return tally.counts_of(relation, 0), tally.counts_of(relation, 1)


def correct_together(found: Sequence[RelationRow]) -> list[RelationRow]:
    """Correct the p-values of rows that are reported together for multiple testing (Holm's method)."""
    corrected = holm(np.array([row.p for row in found], np.float64))
    return [replace(row, p=float(p)) for row, p in zip(found, corrected, strict=True)]


def row(  # noqa: PLR0913  (the parts of a row)
    counts: RelationCounts, basis: RelationCounts, corpus: AnnotatedCorpus, relation: str, place: Place, doubts: Numbers
) -> RelationRow:
    """Return the result of a head on the links ``counts``, next to that of a baseline rule.

    The rule is the best on the links ``basis`` (see the function ``rule``). ``doubts`` are the p-values of all heads,
    shape (direction, layer, head), and ``place`` is the index of this head in ``doubts``.
    """
    direction, layer, head = place
    bar, given = rule(basis, corpus, counts), candidates(corpus)
    hits = int(counts.hits_by_head[place])
    low, high = wilson(hits, counts.n)
    return RelationRow(
        relation=relation,
        layer=layer,
        head=head,
        direction=corpus.directions[direction],
        accuracy=100 * hits / counts.n,
        n=counts.n,
        baseline=100 * statistics.count_found(counts.cues, bar, given) / counts.n,
        baseline_name=statistics.name(bar, given),
        chance=100 * statistics.CHANCE if given else None,
        low=low,
        high=high,
        p=float(doubts[place]),
    )


def rule(basis: RelationCounts, corpus: AnnotatedCorpus, reported: RelationCounts) -> int:
    """Return the baseline rule with which heads are compared on the links ``reported``.

    It is the rule that finds the most links of ``basis``. If the corpus has candidates, the links of ``reported`` count
    as well, which favours the rule over heads (statistics.best).
    """
    return statistics.best(basis.cues, reported.cues, candidates(corpus))


def by_rule(counts: RelationCounts, rule: int, corpus: AnnotatedCorpus) -> BoolArray:
    """Return True for each link that the baseline rule ``rule`` finds, shape (link,).

    All values are False for the rule "guess", which finds half of the links by chance.
    """
    return counts.needed & rule > 0 if candidates(corpus) else counts.needed == rule


def candidates(corpus: AnnotatedCorpus) -> bool:
    """Return True if the corpus lists candidates for each link, False if any word of the text may be its target."""
    return corpus.format != "conllu"


def _rule_p_values(counts: RelationCounts, basis: RelationCounts, corpus: AnnotatedCorpus) -> Numbers:
    return p_values(counts, rule(basis, corpus, counts), corpus)


@lru_cache(maxsize=256)
def p_values(counts: RelationCounts, rule: int, corpus: AnnotatedCorpus) -> Numbers:
    """Return uncorrected two-sided p-values of all heads against a rule, shape (direction, layer, head).

    A sign-flip test compares the links that a head and the baseline rule find. The differences in a group of dependent
    sentences (``AnnotatedCorpus.groups``) change their signs together. If the rule is a guess between two candidates,
    it counts as half a hit on every link.
    """
    hits = counts.hits[:, : len(corpus.directions)]
    flat = hits.reshape(counts.n, -1).astype(np.int8)
    guessed = candidates(corpus) and rule == statistics.GUESS
    differences = 2 * flat - 1 if guessed else flat - by_rule(counts, rule, corpus)[:, None]
    return sign_flip_test(by_sentence(differences, np.array(corpus.groups)[counts.sentences])).reshape(hits.shape[1:])


def count_groups(corpus: AnnotatedCorpus, sentences: Integers) -> int:
    """Return the number of groups of dependent sentences (``AnnotatedCorpus.groups``) of the links' sentences."""
    return len(set(np.array(corpus.groups)[sentences].tolist()))


def can_be_significant(counts: RelationCounts, basis: RelationCounts, corpus: AnnotatedCorpus, tests: int) -> bool:
    """Return False if no head can be significantly better than the rule in ``tests`` corrected tests.

    The rule is the best on the links ``basis`` (see the function ``rule``). A head can be better only in the groups of
    dependent sentences in which the rule misses a link. With g such groups, the smallest two-sided p-value of the
    sign-flip test is 2 / 2**g; Holm's method multiplies it by the number of tests.
    """
    missed = ~by_rule(counts, rule(basis, corpus, counts), corpus)
    groups = count_groups(corpus, counts.sentences[missed])
    return bool(2.0 ** (1 - groups) * tests <= LEVEL)


def accuracies(counts: RelationCounts, directions: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the percentage of links that each head finds, shape (direction, layer, head)."""
    return 100 * counts.hits_by_head[:directions] / counts.n


def to_json(found: Sequence[RelationRow]) -> str:
    """Return rows as a JSON list with a line per row."""
    lines = ",\n".join(json.dumps(asdict(entry)) for entry in found)
    return f"[\n{lines}\n]\n"


def to_csv(found: Sequence[RelationRow]) -> str:
    """Return rows as CSV with a header."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [field.name for field in fields(RelationRow)], lineterminator="\n")
    writer.writeheader()
    for entry in found:
        cells = asdict(entry).items()
        writer.writerow({name: safe_cell(cell) if isinstance(cell, str) else cell for name, cell in cells})
    return stream.getvalue()


@dataclass(frozen=True)
class ListedLink:
    """A link of a sentence; ``hit`` is True if a head finds it, and ``by_rule`` if the baseline rule does."""

    item: AnnotatedText
    link: Link
    half: int  # as in AnnotatedCorpus.halves: the best head is chosen on half 0 and evaluated on half 1
    hit: bool
    by_rule: bool


def list_links(counts: RelationCounts, corpus: AnnotatedCorpus, place: Place, rule: int) -> list[ListedLink]:
    """Return every link of a relation, marked if the head at ``place`` finds it, and if the baseline rule finds it."""
    hits, right = counts.hits[:, *place].tolist(), by_rule(counts, rule, corpus).tolist()
    found = sorted(zip(counts.places.tolist(), hits, right, strict=True))
    return [
        ListedLink(corpus.items[item], corpus.items[item].links[at], corpus.halves[item], hit, right)
        for (item, at), hit, right in found
    ]


FEWEST = 20  # minimal number of links of a relation in both halves together
Head = tuple[int, int]  # (layer, head)


def name_heads(scored: Sequence[tuple[HitCounts, AnnotatedCorpus]]) -> dict[Head, RelationRow]:
    """Return the best relation of each head that finds more of its links than the baseline rule.

    The relation is chosen on one half of the sentences: the smallest p-value against the rule. Its row is evaluated on
    the other half, and the p-values are corrected for all heads in the result. ``RelationRow.more`` is True if the
    relation also holds there. ``scored`` may contain several corpora, scored with the same model.
    """
    best: dict[Head, tuple[float, float, RelationRow]] = {}
    for tally, corpus in scored:
        for relation in tally.relations():
            for place, (doubt, margin, told) in _heads_above_rule(tally, corpus, relation).items():
                mine = (doubt, -margin)
                if place not in best or mine < best[place][:2]:
                    best[place] = (*mine, told)
    heads = sorted(best)
    return dict(zip(heads, correct_together([best[head][2] for head in heads]), strict=True))


def _heads_above_rule(
    tally: HitCounts, corpus: AnnotatedCorpus, relation: str
) -> dict[Head, tuple[float, float, RelationRow]]:
    """Return the heads that beat the rule on half 0: p-value, margin in links, and the row on half 1."""
    first, second = tally.counts_of(relation, 0), tally.counts_of(relation, 1)
    if first is None or second is None or first.n + second.n < FEWEST or relation in (ALL, *UNCOUNTED):
        return {}
    best = rule(first, corpus, first)
    choosing, telling = p_values(first, best, corpus), p_values(second, rule(first, corpus, second), corpus)
    margins = first.hits_by_head[: len(corpus.directions)] - statistics.count_found(
        first.cues, best, candidates(corpus)
    )
    found = {}
    for layer, head in np.ndindex(*margins.shape[1:]):
        direction = int(np.where(margins > 0, choosing, 2)[:, layer, head].argmin())
        place: Place = (direction, layer, head)
        if margins[place] > 0:
            told = row(second, first, corpus, relation, place, telling)
            found[layer, head] = (float(choosing[place]), float(margins[place]), told)
    return found


def summary(corpus: AnnotatedCorpus, state: ScoringState, chooser: HitCounts | None, random: HitCounts | None) -> str:
    """Return the printed summary: the held-out best head of each relation, and counts of skipped texts."""
    where = "the split file" if chooser else "half of the texts"
    there = "the file" if chooser else "the rest"
    lines = [
        f"Best head of each relation, chosen on {where}, reported on {there}; accuracy in percent, 95% interval.",
        f"More, less: a two-sided paired test by sentence, corrected for these relations by Holm's method,"
        f" {100 * LEVEL:.0f}%. Last: how many heads find more than the rule on all texts, corrected for all heads.",
    ]
    found = [held_out_best(state.tally, corpus, relation, chooser) for relation in state.tally.relations()]
    enough = [row for row in found if row is not None and row.n >= FEWEST]
    if not enough:
        lines[1:] = [
            f"No table: no relation has {FEWEST} links in both halves. Give sentences with other candidates, or"
            " read the rows in a file: --json or --csv."
            if chooser is None
            else f"No table: no relation has {FEWEST} links in the file and some in the split file. Give more"
            " sentences, or read the rows in a file: --json or --csv."
        ]
    for row in correct_together(enough):
        many = _describe_heads_above(state.tally, corpus, row.relation, chooser)
        beside = f"{row.baseline_name} {row.baseline:.1f}"
        if row.chance is not None:
            beside += f", chance {row.chance:.1f}"
        twin = held_out_best(random, corpus, row.relation) if random else None
        if random is not None and twin is not None:
            beside += f", random weights {twin.accuracy:.1f}"
            many += f", with random weights {_describe_heads_above(random, corpus, row.relation)}"
        lines.append(_line(row, beside, many))
    lines += _left_out(corpus, state)
    return "\n".join(lines)


def _line(row: RelationRow, beside: str, many: str) -> str:
    return (
        f"  {row.relation:12} {row.layer}-{row.head:<3} {row.accuracy:5.1f} [{row.low:.1f}, {row.high:.1f}]"
        f"  n = {row.n:<6,} {row.verdict} than {beside}  ({row.direction}); {many}"
    )


def _describe_heads_above(
    tally: HitCounts, corpus: AnnotatedCorpus, relation: str, chooser: HitCounts | None = None
) -> str:
    """Return the number of heads that beat the rule, as a phrase."""
    found = of_relation(tally, corpus, relation, chooser)
    return f"{sum(row.more for row in found)} of {len(found)} heads"


def _left_out(corpus: AnnotatedCorpus, state: ScoringState) -> list[str]:
    lines = []
    if corpus.left_out:
        lines.append(f"{corpus.left_out:,} rows ask nothing and were left out.")
    if state.skipped:
        lines.append(f"{state.skipped:,} texts could not be read by the model.")
    if state.tally.unread:
        lines.append(f"{state.tally.unread:,} links in texts or words that were not read count nowhere.")
    return lines
