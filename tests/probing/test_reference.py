"""Habits of models: what is stored is what the models do, every part of a translator among it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attention.habits import PLACES
from inference import LocalBackend
from inference.catalogue.cards import EMBEDDED_CARD, OWN_CARDS
from inference.settings import Settings
from probing.reference import STORED, measured, store, stored

CARDS = (EMBEDDED_CARD, *OWN_CARDS)


@pytest.mark.slow
@pytest.mark.parametrize("card", CARDS, ids=lambda card: str(card.id))
def test_what_is_stored_is_what_the_model_does(card: object) -> None:
    (model,) = (each for each in CARDS if each is card)
    found = measured(LocalBackend(Settings(offline=True)), model.id, None, model.kind)
    kept = stored()[model.id]
    assert set(found) == set(kept)
    for part, habits in found.items():
        np.testing.assert_allclose(habits.means, kept[part].means, atol=1e-3)
        assert habits.means.shape[2] == PLACES


def test_the_head_of_the_token_before_is_known_for_it() -> None:
    assert [tuple(map(int, head)) for head in np.argwhere(stored()["all-MiniLM-L6-v2"]["encoder"].positional)] == [
        (0, 2),
        (1, 8),
    ]


def test_a_translator_has_habits_in_every_part() -> None:
    assert set(stored()["headlight-en-fr"]) == {"encoder", "decoder", "cross"}


def test_it_is_a_few_kilobytes() -> None:
    assert STORED.stat().st_size < 16_000


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    kept = stored()
    store(kept, tmp_path / "habits")
    again = stored(tmp_path / "habits")
    for model, parts in kept.items():
        for part, habits in parts.items():
            np.testing.assert_array_equal(habits.means, again[model][part].means)
    assert stored(tmp_path / "none") == {}
