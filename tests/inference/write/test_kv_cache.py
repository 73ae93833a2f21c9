"""Key-value caches of unfinished texts: bounded, and never shared."""

from __future__ import annotations

import copy
import threading
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

from inference import LocalBackend
from inference.settings import Settings
from inference.task_heads import CAUSAL
from inference.tasks.decoding import NextToken
from inference.write.decoding import KEPT, CachedPass, KVCache, memory_of
from tests.support.present import present
from tests.support.tinymodels import save


def state(about: Any, *rows: Any, cache: str | None = "cache", nbytes: int = 10) -> Any:
    return CachedPass(about, rows, cache, f"said of {rows}", nbytes)


def test_the_state_with_the_fewest_rows_is_taken() -> None:
    kept = KVCache(100)
    one, many = state("a", (1,)), state("a", (1,), (2,))
    kept.put(many)
    kept.put(one)
    assert kept.take("a", [(1,), (1,)]) is one
    assert kept.take("a", [(1,)]) is many
    assert kept.take("a", [(1,)]) is None


def test_the_copy_of_a_model_keeps_nothing_yet() -> None:
    """States belong to the model that computed them; a copy with changed weights must not reuse them."""
    kept = KVCache(100)
    kept.put(state("a", (1,)))
    twin = copy.deepcopy(kept)
    assert (twin.budget, twin.nbytes, twin.cached_answer("a", [(1,)])) == (100, 0, None)
    twin.put(state("b", (1,)))
    assert kept.cached_answer("b", [(1,)]) is None
    assert kept.take("a", [(1,)])


def test_another_source_or_another_way_finds_nothing() -> None:
    kept = KVCache(100)
    kept.put(state("a", (1,)))
    assert kept.take("b", [(1,)]) is None
    assert kept.take("a", [(1,), (2,)]) is None
    assert kept.cached_answer("a", [(2,)]) is None
    assert kept.cached_answer("a", [(1,)]) == "said of ((1,),)"


def test_without_a_cache_there_is_only_what_was_said() -> None:
    kept = KVCache(100)
    kept.put(state("a", (1,), cache=None))
    assert kept.take("a", [(1,)]) is None
    assert kept.cached_answer("a", [(1,)])


def test_bytes_are_bounded() -> None:
    kept = KVCache(25)
    for token in range(5):
        kept.put(state("a", (token,)))
    assert kept.nbytes == 20
    assert [kept.cached_answer("a", [(token,)]) is not None for token in range(5)] == [False, False, False, True, True]
    kept.put(state("b", (1,), nbytes=30))
    assert kept.cached_answer("b", [(1,)]) is None
    assert kept.nbytes == 0


def test_memory_is_counted_once_and_whole() -> None:
    whole, other = torch.zeros(5, 7), torch.zeros(3)
    assert memory_of(whole[:1], {"a": [whole, (other,)]}, None, "text") == 4 * (35 + 3)


def test_memory_of_caches_of_every_kind() -> None:
    hybrid, plain = DynamicCache(), DynamicCache()
    hybrid.layers.append(
        SimpleNamespace(conv_states={0: torch.zeros(2, 5), 1: None}, recurrent_states={0: torch.zeros(7)})
    )
    plain.update(torch.zeros(1, 2, 3, 5), torch.zeros(1, 2, 3, 5), 0)
    assert memory_of(hybrid) == 4 * 17
    assert memory_of(plain) == 4 * 60
    assert memory_of(EncoderDecoderCache(hybrid, plain)) == 4 * 77


def test_no_two_threads_get_the_same_state() -> None:
    kept, taken = KVCache(10_000), []
    for _ in range(50):
        kept.put(state("a", (1,)))
    gate = threading.Barrier(8)

    def work() -> None:
        gate.wait()
        while (found := kept.take("a", [(1,)])) is not None:
            taken.append(found)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(map(id, taken))) == 50


def test_an_evicted_model_takes_its_states_with_it(tmp_path: Path) -> None:
    one, other = (str(save(tmp_path / name, "gpt2")) for name in ("one", "other"))
    backend = LocalBackend(Settings(model_folders=(tmp_path,), offline=True))
    backend.predict(NextToken(model=one, text="The cat"))
    loaded = backend.loaded(one, None, CAUSAL)
    kept = weakref.ref(loaded.model.__dict__[KEPT])
    assert present(kept()).nbytes > 0
    backend.kept_models.budget = loaded.nbytes + 1
    del loaded
    backend.predict(NextToken(model=other, text="The cat"))
    assert kept() is None
