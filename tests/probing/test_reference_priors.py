"""Stored positional priors: agreement with the models, for all stacks of a translator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attention.excess import PLACES
from inference import LocalBackend
from inference.catalogue.listing import EMBEDDED_CARD, OWN_CARDS
from inference.settings import Settings
from probing.reference_priors import STORED, measure_priors, store, stored_priors

CARDS = (EMBEDDED_CARD, *OWN_CARDS)


@pytest.mark.slow
@pytest.mark.parametrize("card", CARDS, ids=lambda card: str(card.id))
def test_what_is_stored_is_what_the_model_does(card: object) -> None:
    (model,) = (each for each in CARDS if each is card)
    found = measure_priors(LocalBackend(Settings(offline=True)), model.id, None, model.kind)
    kept = stored_priors()[model.id]
    assert set(found) == set(kept)
    for part, habits in found.items():
        np.testing.assert_allclose(habits.means, kept[part].means, atol=1e-3)
        assert habits.means.shape[2] == PLACES


def test_the_head_of_the_token_before_is_known_for_it() -> None:
    assert [
        tuple(map(int, head)) for head in np.argwhere(stored_priors()["all-MiniLM-L6-v2"]["encoder"].positional)
    ] == [
        (0, 2),
        (1, 8),
    ]


def test_a_translator_has_habits_in_every_part() -> None:
    assert set(stored_priors()["headlight-en-fr"]) == {"encoder", "decoder", "cross"}


def test_it_is_a_few_kilobytes() -> None:
    assert STORED.stat().st_size < 16_000


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    kept = stored_priors()
    store(kept, tmp_path / "habits")
    again = stored_priors(tmp_path / "habits")
    for model, parts in kept.items():
        for part, habits in parts.items():
            np.testing.assert_array_equal(habits.means, again[model][part].means)
    assert stored_priors(tmp_path / "none") == {}
