"""What a model has computed of texts that are being written, kept so that one token more costs one token only."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from transformers.cache_utils import Cache, EncoderDecoderCache

Tokens = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class CachedPass:
    """What one pass over one or several ways to go on with a text has left. Who takes it may change the cache."""

    about: Hashable  # what is written from
    rows: tuple[Tokens, ...]  # the tokens written so far, of each row of the cache
    cache: Any  # transformers' own, of keys and values; None where there is none
    passed: Any  # what the pass said, which nobody changes (inference.write.decoding.NextTokenPass)
    nbytes: int


class KVCache:
    """States within a budget of bytes, the least recently kept dropped first; shared by threads.

    A state is out of here while somebody uses it, so that no two ever share one.

    >>> kept = KVCache(100)
    >>> kept.put(CachedPass("text", ((7, 8),), "cache", "what it said", nbytes=60))
    >>> kept.said("text", [(7, 8)])
    'what it said'
    >>> kept.take("text", [(7,)]), kept.take("text", [(7, 8)]).rows, kept.take("text", [(7, 8)])
    (None, ((7, 8),), None)
    """

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self._lock = threading.Lock()
        self._states: list[CachedPass] = []

    def __deepcopy__(self, _memo: object) -> KVCache:
        """Empty: a model's copy is made to be changed, and what the model has computed is not what the copy would."""
        return KVCache(self.budget)

    @property
    def nbytes(self) -> int:
        """Bytes kept now."""
        return sum(state.nbytes for state in self._states)

    def cached_answer(self, about: Hashable, rows: Sequence[Tokens]) -> Any:
        """What a pass over just these rows said; None if it is not kept."""
        with self._lock:
            states = [state for state in self._states if (state.about, state.rows) == (about, tuple(rows))]
        return states[-1].passed if states else None

    def take(self, about: Hashable, rows: Sequence[Tokens]) -> CachedPass | None:
        """The state with a cache and the fewest rows that has all of these; no longer here then. None without one."""
        wanted = set(rows)
        with self._lock:
            with_cache = [state for state in self._states if state.about == about and state.cache is not None]
            found = [state for state in with_cache if wanted <= set(state.rows)]
            if not found:
                return None
            best = min(found, key=lambda state: len(state.rows))
            self._states.remove(best)
            return best

    def put(self, state: CachedPass) -> None:
        """Keeps a state; drops others, and this one too if it is larger than the budget."""
        with self._lock:
            self._states.append(state)
            while self._states and self.nbytes > self.budget:
                self._states.pop(0)


def memory_of(*held: Any) -> int:
    """Bytes that the tensors in some values keep alive: a view all of what it is cut from, and every memory once."""
    found: dict[int, int] = {}
    pending = list(held)
    while pending:
        one = pending.pop()
        if isinstance(one, Tensor):
            memory = one.untyped_storage()
            found[memory.data_ptr()] = memory.nbytes()
        elif isinstance(one, EncoderDecoderCache):
            pending += [one.self_attention_cache, one.cross_attention_cache]
        elif isinstance(one, Cache):
            pending += [vars(layer) for layer in one.layers]
        elif isinstance(one, Mapping):
            pending += one.values()
        elif isinstance(one, list | tuple):
            pending += one
    return sum(found.values())
