"""Roles of heads: maps with known roles, and additive counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attention import roles
from attention.mask import Mask
from attention.record import MapRecord, Record
from attention.roles import ROLES, attention_to_role, names, observe
from attention.tokens import TokenRow
from attention.trace import Trace
from tests.support.cases import loop_over
from tests.support.present import present
from tests.support.traces import numbers, record, sentence_trace, translation_trace

# The tokens are [CLS] the cat saw the dog . [SEP].
ROW = TokenRow(
    pieces=("[CLS]", "the", "cat", "saw", "the", "dog", ".", "[SEP]"),
    ids=(101, 1, 2, 3, 1, 4, 5, 102),
    words=(None, 0, 1, 2, 3, 4, 5, None),
    segments=(0,) * 8,
    spans=(None, (0, 3), (4, 7), (8, 11), (12, 15), (16, 19), (19, 20), None),
)
SIZE = len(ROW)


def one_head(weights: np.ndarray, **extra: Any) -> Trace:
    """Return a trace with this map as its only head."""
    return sentence_trace(source=ROW, parts={"encoder": (MapRecord(weights.astype(np.float32)[None]),)}, **extra)


def shifted(by: int) -> np.ndarray:
    """Return a map in which each token attends to the token at offset ``by``, clipped to the text."""
    weights = np.zeros((SIZE, SIZE))
    weights[np.arange(SIZE), np.clip(np.arange(SIZE) + by, 0, SIZE - 1)] = 1
    return weights


def at(place: int) -> np.ndarray:
    weights = np.zeros((SIZE, SIZE))
    weights[:, place] = 1
    return weights


def repeats() -> np.ndarray:
    weights = np.eye(SIZE)
    weights[[1, 4]] = weights[[4, 1]]
    return weights


EVENLY = np.full((SIZE, SIZE), 1 / SIZE)


@loop_over(
    ("weights", "role"),
    [
        (shifted(-1), "previous"),
        (shifted(1), "next"),
        (np.eye(SIZE), "same"),
        (at(0), "first"),
        (at(SIZE - 1), "separator"),
        (EVENLY, "broad"),
    ],
)
def test_a_head_made_for_a_role_is_named_after_it(weights: Any, role: str) -> None:
    found = observe(one_head(weights))
    assert found.strength(role)[0, 0] == pytest.approx(1)
    assert names(found, 0, 0) == [role]


def test_repeats_are_measured_where_there_are_any_and_named_where_there_are_enough() -> None:
    found = observe(one_head(repeats()))
    assert found.tokens["repeat"].tolist() == [[2]]
    assert found.strength("repeat")[0, 0] == 1
    assert names(found, 0, 0) == ["same"]  # two repeated tokens are too few to name a head after them
    often = found + found + found
    assert often.tokens["repeat"].tolist() == [[6]]
    assert names(often, 0, 0) == ["repeat", "same"]


def test_tokens_without_a_neighbour_of_that_kind_do_not_count() -> None:
    found = observe(one_head(EVENLY))
    counted = {"previous": 5, "next": 5, "same": 6, "first": 6, "separator": 6, "repeat": 2, "broad": 6}
    assert {role: int(tokens[0, 0]) for role, tokens in found.tokens.items()} == counted
    for role in ROLES:
        assert found.strength(role)[0, 0] == pytest.approx(found.uniform_share(role)[0, 0])


def test_even_attention_is_what_was_expected_behind_a_mask_too() -> None:
    zeros = np.zeros((1, SIZE, 4), np.float32)
    flat = Record(zeros, zeros, np.ones((1, SIZE, 4), np.float32), 0.5, Mask(SIZE, SIZE, causal=True))
    found = observe(sentence_trace(source=ROW, parts={"decoder": (flat,)}))
    for role in ROLES:
        if role not in ("next", "separator"):  # A decoder's tokens see neither the next token nor the separator.
            assert found.strength(role)[0, 0] == pytest.approx(found.uniform_share(role)[0, 0])
    assert np.isnan(found.strength("next")).all()
    assert np.isnan(found.strength("separator")).all()
    assert found.tokens["repeat"][0, 0] == 1
    assert found.strength("broad")[0, 0] == pytest.approx(1)
    assert found.uniform_share("same")[0, 0] == pytest.approx(np.mean([1 / (i + 1) for i in range(1, 7)]))


def test_shares_lie_between_nothing_and_everything() -> None:
    found = observe(sentence_trace())
    for role in ROLES:
        strength = found.strength(role)
        assert (np.isnan(strength) == (found.tokens[role] == 0)).all()
        assert ((strength >= 0) & (strength <= 1 + 1e-6) | np.isnan(strength)).all()


def test_a_sinks_share_shrinks_with_its_values() -> None:
    """[CLS] has half of the attention and a third of the norm: (1/2 · 1/3) / (1/2 · 1/3 + 1/2) is a quarter."""
    values = np.zeros((1, SIZE, 4), np.float32)
    values[0, :, 1] = 3
    values[0, 0, 1] = 1
    rest = 0.5 / (SIZE - 1)
    scores = np.log(np.array([0.5] + [rest] * (SIZE - 1), np.float32))
    query = np.zeros((1, SIZE, 4), np.float32)
    query[..., 0] = 1
    key = np.zeros((1, SIZE, 4), np.float32)
    key[0, :, 0] = scores
    found = observe(sentence_trace(source=ROW, parts={"encoder": (Record(query, key, values, 1.0, Mask(SIZE, SIZE)),)}))
    assert found.strength("first")[0, 0] == pytest.approx(0.5, abs=1e-6)
    assert present(found.value_share("first"))[0, 0] == pytest.approx(0.25, abs=1e-6)
    assert present(found.value_length("first"))[0, 0] == pytest.approx(1 / 3, abs=1e-6)


def test_finished_maps_have_no_values() -> None:
    found = observe(one_head(EVENLY))
    assert found.value_share("first") is None
    assert found.value_length("separator") is None
    assert (found + observe(one_head(np.eye(SIZE)))).value_share("first") is None


def test_evidence_of_several_texts_is_that_of_all_their_tokens() -> None:
    one, other = observe(one_head(shifted(-1))), observe(one_head(EVENLY))
    both = one + other + other
    assert both.texts == 3
    assert both.tokens["previous"].tolist() == [[15]]
    assert both.strength("previous")[0, 0] == pytest.approx((1 + 2 / SIZE) / 3)


def test_grouped_heads_take_the_values_they_share() -> None:
    """Four heads share two key-value heads; [CLS] has a value of length zero in the second key-value head."""
    values = np.ones((2, 6, 4), np.float32)
    values[1, 0] = 0
    trace = sentence_trace(parts={"encoder": (replace(record(6, 6, heads=4, kv_heads=2), value=values),)})
    lengths = present(observe(trace).value_length("first"))
    np.testing.assert_allclose(lengths, [[1, 1, 0, 0]], atol=1e-6)


def test_of_a_long_text_evenly_spaced_tokens_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roles, "MOST_ROWS", 3)
    found = observe(one_head(np.eye(SIZE)))
    assert found.tokens["same"].tolist() == [[3]]
    assert found.strength("same")[0, 0] == 1
    assert roles.sampled_queries(ROW).tolist() == [1, 3, 6]


def test_cross_attention_has_no_roles() -> None:
    assert observe(translation_trace(), "decoder").texts == 1
    with pytest.raises(ValueError, match='"cross" came'):
        observe(translation_trace(), "cross")


def test_the_strongest_role_is_named_first_and_broad_last() -> None:
    found = observe(one_head(0.3 * shifted(-1) + 0.5 * at(0) + 0.2 * EVENLY))
    assert names(found, 0, 0) == ["first"]
    assert names(found, 0, 0, least=0.3, even=0.0) == ["first", "previous", "broad"]
    assert names(found, 0, 0, least=1.0) == []


def test_numbers_are_not_touched() -> None:
    weights = numbers(SIZE, SIZE) ** 2
    before = weights.copy()
    observe(one_head(weights))
    np.testing.assert_array_equal(weights, before)


@pytest.mark.parametrize("weights", [shifted(-1), at(0), repeats(), EVENLY])
def test_what_each_token_gives_to_a_role_is_on_average_its_strength(weights: np.ndarray) -> None:
    mixed = 0.7 * weights + 0.3 * np.random.default_rng(0).dirichlet(np.ones(SIZE), SIZE)
    trace = one_head(mixed)
    found = observe(trace)
    for role in ROLES:
        shares = attention_to_role(trace, role, 0, 0)
        assert shares.shape == (SIZE,)
        assert np.isnan(shares[[0, SIZE - 1]]).all()  # Special tokens are not counted as queries.
        assert (~np.isnan(shares)).sum() == found.tokens[role][0, 0]
        np.testing.assert_allclose(np.nanmean(shares), found.strength(role)[0, 0], rtol=1e-5)
