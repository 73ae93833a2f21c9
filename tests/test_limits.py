"""How many tokens a model reads."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from inference.limits import memory_limit, position_limit, token_limit
from inference.loading import Source, load
from inference.settings import Settings
from tests.tinymodels import save


def test_relative_positions_are_limited_by_memory_alone(tmp_path: Path) -> None:
    source = Source("t5", None, save(tmp_path, "t5"))
    small = load(source, Settings(trace_memory_bytes=2_000_000)).limit
    large = load(source, Settings(trace_memory_bytes=8_000_000)).limit
    assert 100 < small < large < 4 * small


def model(**config: object) -> SimpleNamespace:
    """As much of a model as limits look at."""
    stated = SimpleNamespace(**config)
    stated.get_text_config = lambda: stated
    return SimpleNamespace(config=stated, named_modules=list)


def test_finished_maps_grow_with_the_square() -> None:
    assert memory_limit(model(num_hidden_layers=2, num_attention_heads=3), False, 4 * 2 * 3 * 100**2) == 100


def test_recorded_vectors_grow_with_the_length() -> None:
    assert (
        memory_limit(model(num_hidden_layers=2, num_attention_heads=3, hidden_size=24), True, 4 * 3 * 2 * 24 * 100)
        == 100
    )


def test_a_position_bias_counts_too() -> None:
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 3, "hidden_size": 24}
    budget = 4 * 3 * 2 * 24 * 100 + 4 * 3 * 100**2
    assert memory_limit(model(**sizes, relative_attention_num_buckets=32), True, budget) == 100


@pytest.mark.parametrize(
    ("stated", "trained", "limit"),
    [(512, 128, 128), (512, 10**30, 512), (512, None, 512), (None, 512, None), (-1, 512, None)],
)
def test_the_smaller_of_table_and_training_counts(stated: int | None, trained: int | None, limit: int | None) -> None:
    tokenizer = SimpleNamespace(model_max_length=trained)
    assert position_limit(model(max_position_embeddings=stated), tokenizer) == limit


def test_at_least_one_token() -> None:
    assert token_limit(model(max_position_embeddings=512), SimpleNamespace(), True, 1) == 1
