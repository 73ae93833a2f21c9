"""Terms of a score from the contributions to its query and its keys."""

from __future__ import annotations

import numpy as np
import pytest

from attention.score_terms import RELATIVE, Numbers, ScoreRow, decompose_score, source_order
from tests.support.cases import loop_over

KEYS, WIDTH = 5, 4


def random_sides(seed: int = 0) -> tuple[dict[str, Numbers], dict[str, Numbers]]:
    random = np.random.default_rng(seed)
    names = ("token", "position", "head 0-1", "ffn 0", "bias")
    return (
        {name: random.normal(size=WIDTH) for name in names},
        {name: random.normal(size=(KEYS, WIDTH)) for name in names},
    )


def row_of(softcap: float | None = None, added: float = 0.0) -> ScoreRow:
    visible = np.array([True, True, True, True, False])
    return ScoreRow(0.5, softcap, added * np.arange(KEYS, dtype=np.float64), visible)


@loop_over(("softcap", "added"), [(None, 0.0), (None, 0.3), (2.0, 0.0), (2.0, 0.3)])
def test_terms_sum_to_score_and_centred_terms_to_excess(softcap: float | None, added: float) -> None:
    query, keys = random_sides()
    row = row_of(softcap, added)
    products = np.sum([*keys.values()], axis=0) @ np.sum([*query.values()], axis=0)
    terms = decompose_score(query, keys, row, 2)
    assert terms.total == pytest.approx(row.scores(products)[2])
    assert terms.excess_terms.sum() == pytest.approx(row.excess(products, 2))
    assert (RELATIVE in terms.query_sources) == (added != 0)


def test_a_zero_source_has_zero_terms() -> None:
    query, keys = random_sides()
    query["head 0-1"] = np.zeros(WIDTH)
    terms = decompose_score(query, keys, row_of(), 1)
    assert not terms.values[terms.query_sources.index("head 0-1")].any()
    assert terms.of_query("head 0-1") == 0
    assert terms.of_query("token") != 0


def test_permuted_sources_permute_the_terms() -> None:
    query, keys = random_sides()
    swap = {"token": "ffn 0", "ffn 0": "token"}
    terms = decompose_score(query, keys, row_of(2.0), 1)
    other = decompose_score({swap.get(name, name): part for name, part in query.items()}, keys, row_of(2.0), 1)
    for name in query:
        np.testing.assert_allclose(
            other.values[other.query_sources.index(swap.get(name, name))],
            terms.values[terms.query_sources.index(name)],
        )


def test_a_constant_added_to_every_score_has_no_centred_term() -> None:
    query, keys = random_sides()
    row = row_of()
    constant = ScoreRow(row.scale, None, np.full(KEYS, 7.0), row.visible)
    terms = decompose_score(query, keys, constant, 1)
    assert terms.values[-1, -1] == 7
    assert terms.of_key(RELATIVE) == pytest.approx(0)


def test_sources_are_ordered_by_layer() -> None:
    names = [
        "bias",
        RELATIVE,
        "head 10-0",
        "head 9-11",
        "block 1",
        "ffn 0",
        "cross 0-0",
        "head 0-2",
        "segment",
        "token",
    ]
    assert sorted(names, key=source_order) == [
        "token", "segment", "head 0-2", "cross 0-0", "ffn 0", "block 1", "head 9-11", "head 10-0", "bias", RELATIVE,
    ]  # fmt: skip
