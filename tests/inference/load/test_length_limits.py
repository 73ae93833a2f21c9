"""The number of tokens that a model accepts."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from attention.trace import Trace
from inference.files.sources import ModelSource
from inference.load.length_limits import memory_limit, position_limit, token_limit
from inference.load.loading import load
from inference.record import capture
from inference.settings import Settings
from tests.support.architectures import EVERY_RECORDED, MAPS_ONLY, Architecture, build, inputs
from tests.support.cases import loop_over
from tests.support.tinymodels import save

capture.install()
TEXTS = [row for row in EVERY_RECORDED + MAPS_ONLY if row.kind in ("encoder", "decoder", "encoder-decoder")]


def test_relative_positions_are_limited_by_memory_alone(tmp_path: Path) -> None:
    source = ModelSource("t5", None, save(tmp_path, "t5"))
    small = load(source, Settings(trace_memory_bytes=2_000_000)).limit
    large = load(source, Settings(trace_memory_bytes=8_000_000)).limit
    assert 100 < small < large < 4 * small


def model(**config: object) -> SimpleNamespace:
    """Return a stand-in for a model with the attributes that the limits read."""
    stated = SimpleNamespace(**config)
    stated.get_text_config = lambda: stated
    return SimpleNamespace(config=stated, named_modules=list)


def test_finished_maps_grow_with_the_square() -> None:
    assert memory_limit(model(num_hidden_layers=2, num_attention_heads=3), False, 4 * 2 * 3 * 100**2) == 100


def test_recorded_vectors_grow_with_the_length() -> None:
    budget = 4 * 2 * (3 * 24 + 3 * 3) * 100  # The last term is the log-sum-exp of each head, in float32 and float64.
    assert memory_limit(model(num_hidden_layers=2, num_attention_heads=3, hidden_size=24), True, budget) == 100


@pytest.mark.slow
@loop_over("row", TEXTS, ids=lambda row: row.name)
def test_the_longest_text_fills_the_budget_and_no_more(row: Architecture) -> None:
    """A text of ten tokens takes the estimated memory, also for wide heads, shared keys and biases."""
    opened = build(row, capture.NAME)
    records = capture.prepare(opened)
    given = inputs(row, (10,))
    given |= {f"decoder_{name}": given[name] for name in ("input_ids", "attention_mask") if f"decoder_{name}" in given}
    parts = capture.record_parts(opened, given)[0]
    nothing: Any = None  # Only the records are measured.
    taken = Trace("", nothing, "", None, nothing, None, parts).nbytes
    assert memory_limit(opened, records, int(taken * 0.95)) < 10 <= memory_limit(opened, records, int(taken * 1.05))


def test_stated_widths_count_not_hidden_sizes() -> None:
    qwen3 = model(num_hidden_layers=28, num_attention_heads=16, num_key_value_heads=8, hidden_size=1024, head_dim=128)
    assert memory_limit(qwen3, True, 4 * 28 * (32 * 128 + 3 * 16) * 100) == 100


def test_two_values_of_a_head_count_both() -> None:
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6}
    budget = 4 * 2 * ((4 + 3 * 2) * 6 + 3 * 4) * 100  # Keys are counted once, values twice.
    assert memory_limit(model(**sizes, model_type="diffllama"), True, budget) == 100


def test_one_text_takes_half_of_the_budget() -> None:
    sizes = model(num_hidden_layers=2, num_attention_heads=3, hidden_size=24)
    assert token_limit(sizes, SimpleNamespace(), True, 4 * 2 * (3 * 24 + 3 * 3) * 100) == 50


def test_a_position_bias_counts_too() -> None:
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 3, "hidden_size": 24}
    budget = 4 * 2 * (3 * 24 + 3 * 3) * 100 + 4 * 3 * 100**2
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


def test_a_modernbert_reads_8192_tokens_on_a_machine_of_24_gib() -> None:
    """A quarter of the memory is for traces, and a single text may take half of that."""
    import transformers

    with torch.device("meta"):
        model = transformers.AutoModel.from_config(transformers.ModernBertConfig())
    assert memory_limit(model, True, 24 * 2**30 // 4 // 2) >= 8192
