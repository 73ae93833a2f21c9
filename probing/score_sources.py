"""Causes of a head's scores on labelled links: mean terms of the sources, and contrastive directions.

A source is a summand of the residual stream, such as the output of an earlier head. A contrastive direction is an axis
of the query or key space along which labelled and other keys differ (attention.contrastive). Directions are selected on
half of the sentences and reported on the rest. The halves are those on which Scores chooses and evaluates heads
(AnnotatedCorpus.halves).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from attention.annotations import AnnotatedText, Link
from attention.contrastive import (
    ContrastiveDirections,
    LabelledPairs,
    Numbers,
    join_pairs,
    rank_p_value,
    shuffled_shares,
)
from attention.mask import BoolArray
from attention.score_terms import source_order
from i18n import gettext_lazy
from inference.errors import UserError
from inference.tasks.labelled_scores import LabelledScoresAnswer, LabelledScoresRequest, TextScores
from inference.tasks.model_request import InspectRequest
from probing import statistics
from probing.corpus import ALL, UNCOUNTED, AnnotatedCorpus
from probing.results import FEWEST, candidates
from probing.statistics import Integers, by_sentence, cue, holm, sign_flip_test, wilson

BATCH = 16  # texts per request
RESAMPLES = 1_999
SHUFFLES = 499
MANY = (1, 2, 4, 8)  # numbers of directions that are reported
SEED = 0


class InspectingBackend(Protocol):
    """A protocol for backends that can compute the scores of a head on labelled links."""

    def inspect(self, request: InspectRequest[LabelledScoresAnswer]) -> LabelledScoresAnswer:
        """Return the scores of a head on the links of some texts."""
        ...


@dataclass(frozen=True)
class MeanTerm:
    """The contribution of a source to the scores of links, averaged over the links, with a 95 % interval.

    A source is a summand of the residual stream, such as the output of a head. Its term in the score of a link is
    centred: the mean of its terms over all keys of the row is subtracted. The interval is from a bootstrap that
    resamples dependent sentences together (AnnotatedCorpus.groups).
    """

    source: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class DirectionScore:
    """The percentage of held-out links that a head finds with some of its contrastive directions.

    The first ``directions`` are used. ``found`` is the percentage, with the 95 % interval ``low`` to ``high``.
    ``shuffled`` has the smallest, the median and the largest percentage with directions that are computed from shuffled
    labels. The head's margin is q · k of the labelled key minus the mean q · k of the other candidates; ``share`` is
    the part of the margin that these directions explain.

    ``p_shuffled`` is the p-value of ``found`` among the percentages from shuffled labels. ``p_rule`` compares ``found``
    with the best rule, in a test that is paired by group of dependent sentences. Both are two-sided, and corrected by
    Holm's method for all tests of the head.
    """

    directions: int
    found: float
    low: float
    high: float
    share: float
    shuffled: tuple[float, float, float]
    p_shuffled: float
    p_rule: float


@dataclass(frozen=True)
class DirectionReport:
    """The percentage of labelled links that a head finds with its contrastive directions (attention.contrastive).

    The directions come from one half of the sentences, which has ``selected`` links. Every percentage is of the links
    in the other half, of which there are ``links``. ``scores`` has an entry for each number of directions that is used.

    For comparison, ``head`` is the percentage with the head's complete score (95 % interval ``low`` to ``high``).
    ``rule`` is the percentage of the best rule without a model, and ``chance`` that of a random candidate.
    """

    selected: int
    links: int
    sentences: int
    scores: tuple[DirectionScore, ...]
    head: float
    low: float
    high: float
    rule: float
    rule_name: str
    chance: float
    shuffles: int


@dataclass(frozen=True)
class SourceReport:
    """The mean terms of a head's scores over the links of a relation, and its contrastive directions, if any.

    ``direction`` is 0 if a link's first word attends to its second word, and 1 for the reverse. ``score`` is the mean
    score of the links, ``mean_over_keys`` the mean score over all keys of the same rows, and ``excess`` their
    difference. ``query`` and ``key`` have the mean term of each part of the model (embedding, earlier head or layer)
    that contributes to the query or the key, the largest first. ``left_out`` counts links that the model cannot read,
    or in which a mask hides the key. ``directions`` reports on contrastive directions (DirectionReport).
    """

    relation: str
    direction: int
    links: int
    sentences: int
    left_out: int
    score: float
    mean_over_keys: float
    excess: MeanTerm
    query: tuple[MeanTerm, ...]
    key: tuple[MeanTerm, ...]
    error: float
    directions: DirectionReport | None


@dataclass(frozen=True)
class SourceRun:
    """A head of a model, and the links on which its scores are decomposed.

    ``direction`` is 0 if the source of a link attends to its target, and 1 for the reverse. None chooses the direction
    in which the head finds more links, on half of the sentences.
    """

    corpus: AnnotatedCorpus
    relation: str
    layer: int
    head: int
    model: str
    revision: str | None = None
    direction: int | None = None

    def items(self) -> list[AnnotatedText]:
        """Return the texts that have a link of the relation, sorted by a hash of the text.

        Raise UserError if there is none.
        """
        kept = [replace(item, links=self._links(item.links)) for item in self.corpus.items]
        found = sorted((item for item in kept if item.links), key=_place)
        if not found:
            known = dict.fromkeys(link.relation for item in self.corpus.items for link in item.links)
            raise UserError(
                gettext_lazy(
                    'There is no relation "{relation}"; the file has {known}.',
                    relation=self.relation,
                    known=", ".join(sorted(known)),
                )
            )
        return found

    def _links(self, links: Sequence[Link]) -> tuple[Link, ...]:
        if self.relation == ALL and self.corpus.together:
            return tuple(link for link in links if link.relation not in UNCOUNTED)
        return tuple(link for link in links if link.relation == self.relation)

    def questions(self) -> list[LabelledScoresRequest]:
        """Return the requests for all texts, short texts first."""
        items = sorted(self.items(), key=lambda item: (len(item.text), _place(item)))
        return [
            LabelledScoresRequest(self.model, self.revision, tuple(items[start : start + BATCH]), self.layer, self.head)
            for start in range(0, len(items), BATCH)
        ]


def _place(item: AnnotatedText) -> tuple[str, str, tuple[tuple[int, int], ...]]:
    return hashlib.sha256(item.text.encode()).hexdigest(), str(item.links), item.units


def decompose_links(backend: InspectingBackend, run: SourceRun) -> SourceReport:
    """Decompose a head's scores on links and return the report.

    Raise UserError if the scores cannot be decomposed, or if no link can be read.
    """
    questions = run.questions()
    return report(run, questions, [backend.inspect(question) for question in questions])


def report(
    run: SourceRun, questions: Sequence[LabelledScoresRequest], answers: Sequence[LabelledScoresAnswer]
) -> SourceReport:
    """Combine the answers to the requests of a run into its report; raise UserError if no link was read."""
    links = list(_read_links(run, questions, answers))
    if not links:
        reason = next((answer.reason for answer in answers if answer.reason), "")
        raise UserError(
            gettext_lazy("The model cannot read a link of {relation}. {why}", relation=run.relation, why=reason)
        )
    direction = _best_direction(run, links) if run.direction is None else run.direction
    counted = [link for link in links if link.direction == direction]
    total = sum(len(item.links) for question in questions for item in question.items)
    if not counted:
        raise UserError(gettext_lazy("The causal mask hides keys after their query. Use the other direction."))
    query, key = (_mean_terms(counted, answers, side) for side in (0, 1))
    whole = _bootstrap(np.array([[link.excess] for link in counted]), _groups(counted))[0]
    score = float(np.mean([link.score for link in counted]))
    return SourceReport(
        run.relation,
        direction,
        len(counted),
        len({link.text for link in counted}),
        total - len(counted),
        score,
        score - whole[0],
        MeanTerm("", *whole),
        query,
        key,
        max(answer.error for answer in answers),
        _directions(run, counted),
    )


@dataclass(frozen=True, eq=False)
class _ReadLink:
    """A link in one direction: its centred terms, its query, and its candidate keys, the labelled key first."""

    text: str
    group: int  # of AnnotatedCorpus.groups, numbered in the order of the hashes
    half: int  # of AnnotatedCorpus.halves
    direction: int
    cue: int
    score: float
    excess: float
    terms: tuple[dict[str, float], dict[str, float]]  # by source, of the query and of the key
    query: Numbers
    keys: Numbers  # (candidate, channel)
    scores: Numbers  # (candidate,)


def _read_links(
    run: SourceRun, questions: Sequence[LabelledScoresRequest], answers: Sequence[LabelledScoresAnswer]
) -> Iterator[_ReadLink]:
    """Yield the links that the model can read, in the order of the hashes of their texts."""
    texts = [
        (item, answer, text)
        for question, answer in zip(questions, answers, strict=True)
        for item, text in zip(question.items, answer.texts, strict=True)
    ]
    texts.sort(key=lambda entry: _place(entry[0]))
    corpus = run.corpus
    known = zip(corpus.items, corpus.groups, corpus.halves, strict=True)
    place_of = {item.text: (group, half) for item, group, half in known}  # equal texts are in the same group
    numbers: dict[int, int] = {}
    for item, answer, text in texts:
        group, half = place_of[item.text]
        place = numbers.setdefault(group, len(numbers)), half
        places = np.argwhere(np.isfinite(text.excess)).tolist() if text is not None else []
        for at, direction in places:
            if text is not None and direction < len(corpus.directions):
                yield _read_link(item, at, direction, place, answer, text)


def _read_link(  # noqa: PLR0913  # the place of the link, and its numbers
    item: AnnotatedText, at: int, direction: int, place: tuple[int, int], answer: LabelledScoresAnswer, text: TextScores
) -> _ReadLink:
    link = item.links[at]
    query, key = (link.source, link.target) if direction == 0 else (link.target, link.source)
    chosen = [key, *(unit for unit in _candidates(item, link, query, direction) if unit not in (query, key))]
    chosen = [unit for unit in chosen if np.isfinite(text.scores[query, unit])]
    sides = (answer.query_sources, text.query_terms), (answer.key_sources, text.key_terms)
    named = [dict(zip(names, terms[at, direction].tolist(), strict=True)) for names, terms in sides]
    return _ReadLink(
        item.text,
        *place,
        direction,
        cue(item, link),
        float(text.scores[query, key]),
        float(text.excess[at, direction]),
        (named[0], named[1]),
        text.queries[query],
        text.keys[chosen],
        text.scores[query, chosen],
    )


def _candidates(item: AnnotatedText, link: Link, query: int, direction: int) -> Sequence[int]:
    """Return the units that compete with a link's key; other keys with the label of the same query do not."""
    if link.others is not None:
        return link.others if direction == 0 else ()
    labelled = {other.target if direction == 0 else other.source
                for other in item.links if (other.source if direction == 0 else other.target) == query}  # fmt: skip
    return [unit for unit in range(len(item.units)) if unit not in labelled]


def _mean_terms(links: Sequence[_ReadLink], answers: Sequence[LabelledScoresAnswer], side: int) -> tuple[MeanTerm, ...]:
    """Return the mean terms of the sources of one side, the largest first."""
    names = sorted(
        {name for answer in answers for name in (answer.query_sources, answer.key_sources)[side]}, key=source_order
    )
    values = np.array([[link.terms[side].get(name, 0.0) for name in names] for link in links])
    found = [MeanTerm(name, *numbers) for name, numbers in zip(names, _bootstrap(values, _groups(links)), strict=True)]
    return tuple(sorted(found, key=lambda term: -abs(term.mean)))


def _bootstrap(values: Numbers, groups: Numbers) -> list[tuple[float, float, float]]:
    """Return the mean of each column of ``values`` (link, number), with its 95 % interval, resampled by group.

    >>> [round(number, 2) for number in _bootstrap(np.array([[1.0], [1.0], [1.0]]), np.array([0, 0, 1]))[0]]
    [1.0, 1.0, 1.0]
    """
    names, places = np.unique(groups, return_inverse=True)
    sums = np.zeros((len(names), values.shape[1] + 1))
    np.add.at(sums, places, np.column_stack([values, np.ones(len(values))]))
    times = np.random.default_rng(SEED).multinomial(len(names), np.full(len(names), 1 / len(names)), RESAMPLES)
    drawn = times @ sums
    ends = np.quantile(drawn[:, :-1] / drawn[:, -1:], [0.025, 0.975], axis=0)
    means = sums[:, :-1].sum(axis=0) / len(values)
    return [(float(mean), float(low), float(high)) for mean, low, high in zip(means, *ends, strict=True)]


def _groups(links: Sequence[_ReadLink]) -> Numbers:
    return np.array([link.group for link in links])


def _best_direction(run: SourceRun, links: Sequence[_ReadLink]) -> int:
    """Return the direction in which the head finds more of the links of the selection half.

    Given candidates compete only if the link's source attends, so the direction is then 0.
    """
    if candidates(run.corpus):
        return 0
    found: Counter[int] = Counter()
    for link in links:
        if link.half == 0:
            found[link.direction] += int(link.scores.argmax() == 0)
    return max(found, key=lambda direction: (found[direction], -direction), default=links[0].direction)


def _directions(run: SourceRun, links: Sequence[_ReadLink]) -> DirectionReport | None:
    """Return the directions of the selection half on the other half, None with too few links."""
    chosen = [link for link in links if len(link.keys) > 1]
    halves = [[link for link in chosen if link.half == half] for half in (0, 1)]
    if min(map(len, halves)) < FEWEST // 2:
        return None
    selected, reported = map(_pairs, halves)
    directions = ContrastiveDirections.from_pairs(selected)
    many = tuple(k for k in MANY if k <= len(directions.sizes))
    scored = np.concatenate([link.scores for link in halves[1]])
    rule, by_rule = _rule(run, halves)
    products = [directions.products(reported, k) for k in many]
    hits = [reported.hits(values) for values in products]
    shuffled = shuffled_shares(selected, reported, many, SHUFFLES)
    p_shuffled = [rank_p_value(float(hit.mean()), shuffled[:, at]) for at, hit in enumerate(hits)]
    corrected = holm(np.array([p_shuffled, [_p_rule(hit, by_rule, reported.groups) for hit in hits]]))
    margin = reported.margin(directions.products(reported, len(directions.sizes)))
    whole = reported.hits(scored)
    guessed = 100 * (statistics.CHANCE if by_rule is None else float(by_rule.mean()))
    return DirectionReport(
        len(selected),
        len(reported),
        len({link.text for link in halves[1]}),
        tuple(
            DirectionScore(
                k, *_percent(hits[at]), reported.margin(products[at]) / margin,
                _range(shuffled[:, at]), float(corrected[0, at]), float(corrected[1, at]),
            )
            for at, k in enumerate(many)
        ),
        *_percent(whole),
        guessed,
        statistics.name(rule, candidates(run.corpus)),
        100 * reported.chance,
        SHUFFLES,
    )  # fmt: skip


def _pairs(links: Sequence[_ReadLink]) -> LabelledPairs:
    return join_pairs((link.query, link.keys, 0, link.group) for link in links)


def _rule(run: SourceRun, halves: Sequence[Sequence[_ReadLink]]) -> tuple[int, BoolArray | None]:
    """Return the best rule of the selection half, and the reported links that it finds; None for a guess.

    If the corpus has candidates, the rule is the best of both halves (statistics.best).
    """
    given = candidates(run.corpus)
    counts = [Counter(link.cue for link in half) for half in halves]
    rule = statistics.best(counts[0], counts[1], given)
    if given and rule == statistics.GUESS:
        return rule, None
    cues = np.array([link.cue for link in halves[1]])
    return rule, cues & rule > 0 if given else cues == rule


def _p_rule(hits: BoolArray, by_rule: BoolArray | None, groups: Integers) -> float:
    """Return the two-sided p-value of the difference from a rule, paired by group and not corrected."""
    own = hits.astype(np.int64)
    differences = 2 * own - 1 if by_rule is None else own - by_rule
    return float(sign_flip_test(by_sentence(differences[:, None], groups))[0])


def _percent(hits: BoolArray) -> tuple[float, float, float]:
    return (100 * float(hits.mean()), *wilson(int(hits.sum()), len(hits)))


def _range(shares: Numbers) -> tuple[float, float, float]:
    low, middle, high = (100 * np.quantile(shares, [0, 0.5, 1])).tolist()
    return low, middle, high
