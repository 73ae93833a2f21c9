"""Mean terms of a head's scores over labelled links: laws, a case by hand, and a real model on a small treebank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from attention.annotations import AnnotatedText, Link
from inference import LocalBackend, TraceRequest, UserError
from inference.request import EMBEDDED
from inference.tasks.labelled_scores import LabelledScoresAnswer, LabelledScoresRequest, TextScores
from inference.tasks.model_request import InspectRequest
from inference.tasks.score_decomposition import ScoreRequest
from probing.corpus import AnnotatedCorpus
from probing.formats import load_ready_set
from probing.score_sources import SourceReport, SourceRun, decompose_links

BACKEND = LocalBackend()
UNITS, CHANNELS = 5, 8
TextMaker = Callable[[AnnotatedText, np.random.Generator], TextScores]


def corpus_of(*items: AnnotatedText) -> AnnotatedCorpus:
    return AnnotatedCorpus("conllu", items, ("dependent to head", "head to dependent"), "digest", together=True)


def texts(count: int) -> list[AnnotatedText]:
    return [AnnotatedText(f"text {at}", ((0, 1),) * UNITS, (Link("nsubj", at % 4, 4),)) for at in range(count)]


@dataclass
class InventedBackend:
    """A backend whose vectors are random for each text; each unit is a token that sees all others."""

    seed: int = 0

    def inspect(self, request: InspectRequest[LabelledScoresAnswer]) -> LabelledScoresAnswer:
        """Return invented scores with two sources of each side."""
        assert isinstance(request, LabelledScoresRequest)
        return LabelledScoresAnswer(
            ("token", "ffn 0"), ("token", "bias"), tuple(map(self.text_scores, request.items)), "", 0.0
        )

    def text_scores(self, item: AnnotatedText) -> TextScores:
        """Return the scores of a text, which depend on nothing but the text."""
        random = np.random.default_rng([self.seed, *item.text.encode()])
        queries, keys = random.normal(size=(2, UNITS, CHANNELS))
        scores = queries @ keys.T
        ends = [((link.source, link.target), (link.target, link.source)) for link in item.links]
        excess = np.array([[scores[at, to] - scores[at].mean() for at, to in link] for link in ends])
        parts = random.normal(size=(2, *excess.shape))
        return TextScores(queries, keys, scores, excess, *(np.stack([part, excess - part], axis=2) for part in parts))


@dataclass
class RelabelledBackend(InventedBackend):
    """The same backend, but all scores of the keys of links are raised in some texts."""

    raised: frozenset[str] = frozenset()

    def text_scores(self, item: AnnotatedText) -> TextScores:
        """Return the scores of a text; in a raised text the head finds each link."""
        found = super().text_scores(item)
        scores = found.scores.copy()
        for link in item.links if item.text in self.raised else ():
            scores[link.source, link.target] = scores.max() + 1
        return replace(found, scores=scores)


def run_on(corpus: AnnotatedCorpus, **changes: Any) -> SourceRun:
    return replace(SourceRun(corpus, "nsubj", 3, 1, EMBEDDED), **changes)


def test_mean_terms_sum_to_the_mean_excess() -> None:
    found = decompose_links(InventedBackend(), run_on(corpus_of(*texts(12))))
    for side in (found.query, found.key):
        assert sum(term.mean for term in side) == pytest.approx(found.excess.mean)
        assert all(term.low <= term.mean <= term.high for term in side)
    assert found.score - found.mean_over_keys == pytest.approx(found.excess.mean)


def test_the_order_of_sentences_changes_only_their_halves() -> None:
    items = texts(60)
    within = [items[at + half] for at in reversed(range(0, 60, 2)) for half in (0, 1)]
    found = [
        decompose_links(InventedBackend(), run_on(corpus_of(*order), direction=0))
        for order in (items, within, items[::-1])
    ]
    assert found[0] == found[1]
    assert found[0].directions is not None
    assert replace(found[0], directions=None) == replace(found[2], directions=None)


def test_directions_are_selected_on_the_half_that_chooses_heads() -> None:
    items = texts(60)
    corpus = corpus_of(*(item if at % 3 else replace(item, links=()) for at, item in enumerate(items)))
    reported = [item.text for item, half in zip(corpus.items, corpus.halves, strict=True) if half == 1 and item.links]
    changed = RelabelledBackend(raised=frozenset(reported))
    first, other = (decompose_links(backend, run_on(corpus, direction=0)) for backend in (InventedBackend(), changed))
    assert first.directions is not None
    assert other.directions is not None
    assert first.directions.links == len(reported) == other.directions.links
    assert first.directions.head != other.directions.head == 100


def test_equal_texts_are_one_sentence() -> None:
    [item] = texts(1)
    other = replace(item, links=(Link("nsubj", 2, 3),))
    found = decompose_links(InventedBackend(), run_on(corpus_of(item, other)))
    assert (found.links, found.sentences) == (2, 1)
    assert found.excess.low == found.excess.high == pytest.approx(found.excess.mean)
    assert found.directions is None


def test_random_vectors_have_no_direction() -> None:
    found = []
    for seed in range(4):
        report = decompose_links(InventedBackend(seed), run_on(corpus_of(*texts(50)), direction=0)).directions
        assert report is not None
        found += [score.p_shuffled for score in report.scores]
    assert np.mean(np.array(found) <= 0.05) < 0.2


def test_halves_are_disjoint_and_counted() -> None:
    found = decompose_links(InventedBackend(), run_on(corpus_of(*texts(61)))).directions
    assert found is not None
    assert (found.selected, found.links, found.sentences) == (31, 30, 30)
    assert found.chance == pytest.approx(25)  # four other units


def test_texts_with_the_same_candidates_are_in_the_same_half() -> None:
    units = tuple((at, at + 1) for at in range(UNITS))
    alike, others = range(30), range(12)
    items = [
        *(AnnotatedText(f"abcde {at}", units, (Link("nsubj", 0, 1, (2,)),)) for at in alike),
        *(AnnotatedText(f"a{at:04}", units, (Link("nsubj", 0, 1, (3, 4)),)) for at in others),
    ]
    corpus = AnnotatedCorpus("csv", tuple(items), ("source to target", "target to source"), "digest")
    found = decompose_links(InventedBackend(), run_on(corpus, direction=0)).directions
    assert found is not None
    assert max(found.selected, found.links) >= len(alike)


def test_texts_with_the_same_candidates_count_together() -> None:
    units = tuple((at, at + 1) for at in range(UNITS))
    items = [AnnotatedText(f"a{'bc' if at % 2 else 'de'}yz{at}", units, (Link("r", 0, 1, (2,)),)) for at in range(40)]
    corpus = AnnotatedCorpus("csv", tuple(items), ("source to target", "target to source"), "digest")
    found = decompose_links(InventedBackend(), run_on(corpus, relation="r", direction=0))
    assert found.directions is not None
    assert (found.sentences, found.directions.sentences) == (40, 20)
    assert all(score.p_rule == 1 for score in found.directions.scores), "a half has a single group"
    one = AnnotatedCorpus("csv", tuple(items[::2]), corpus.directions, "digest")
    alone = decompose_links(InventedBackend(), run_on(one, relation="r", direction=0)).excess
    assert alone.low == alone.high == pytest.approx(alone.mean)


def test_the_rule_is_the_best_distance() -> None:
    near = [AnnotatedText(f"near {at}", ((0, 1),) * UNITS, (Link("nsubj", 3, 4),)) for at in range(40)]
    found = decompose_links(InventedBackend(), run_on(corpus_of(*near))).directions
    assert found is not None
    assert found.rule == 100
    assert all(score.p_rule < 0.05 for score in found.scores)


def test_a_missing_relation_is_refused() -> None:
    with pytest.raises(UserError, match="nsubj"):
        decompose_links(InventedBackend(), run_on(corpus_of(*texts(2)), relation="obj"))


@pytest.mark.slow
def test_one_link_has_the_terms_of_its_score() -> None:
    item = AnnotatedText("The cat slept.", ((4, 7), (8, 13)), (Link("nsubj", 0, 1),))
    found = decompose_links(BACKEND, run_on(corpus_of(item), direction=1))
    row = BACKEND.trace(TraceRequest(EMBEDDED, item.text)).source.pieces
    asked = ScoreRequest(
        EMBEDDED, text=item.text, layer=3, head=1, query_token=row.index("slept"), key_token=row.index("cat"), checks=0
    )
    terms = BACKEND.inspect(asked).terms
    for term in found.query:
        assert term.mean == pytest.approx(terms.of_query(term.source), abs=1e-4)
    for term in found.key:
        assert term.mean == pytest.approx(terms.of_key(term.source), abs=1e-4)
    assert found.score == pytest.approx(terms.total, abs=1e-4)


def real(relation: str, name: str, head: tuple[int, int]) -> SourceReport:
    return decompose_links(BACKEND, SourceRun(load_ready_set(name), relation, *head, EMBEDDED))


@pytest.mark.slow
def test_subjects_of_minilm_are_found_by_position() -> None:
    found = real("nsubj", "grammar", (2, 8))
    assert found.links > 60
    assert found.error < 1e-4
    assert found.query[0].source == found.key[0].source == "position"
    assert sum(term.mean for term in found.query) == pytest.approx(found.excess.mean, abs=1e-4)
    assert found.directions is not None
    assert found.directions.head > found.directions.chance
    assert not any(score.p_rule <= 0.05 for score in found.directions.scores)  # no better than the next word


@pytest.mark.slow
def test_pronouns_have_two_candidates() -> None:
    found = real("coref", "pronouns", (3, 1))
    assert found.directions is not None
    assert found.directions.chance == 50
    assert found.key[0].source == "token"
