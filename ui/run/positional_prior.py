"""Positional priors of a model's heads: stored for packaged models, else measured once.

A prior is the mean weight of a position, such as the previous token, in other texts.
"""

from __future__ import annotations

from attention.excess import PositionalPrior
from attention.trace import Trace
from inference import UserError
from inference.byte_cache import ByteLru
from inference.files import sources
from probing.reference_priors import load_priors
from ui.run.services import get_backend

KEPT = 2**23  # Cache size in bytes; the priors of a model take some 10 kB.

_loaded: ByteLru[dict[str, PositionalPrior]] = ByteLru(KEPT)
_shown: ByteLru[dict[str, PositionalPrior]] = ByteLru(KEPT)  # Keys are trace ids.


def prior_of(model: str, revision: str, trace: Trace, part: str | None) -> PositionalPrior | None:
    """Return the positional prior of the heads in a stack of a trace's model, or None.

    It is None for an opened file, for a trace of another model than ``model``, and if the model cannot read the
    sentences of the measurement.
    """
    try:
        name = sources.fine_tuned_title(model, get_backend().settings) if sources.is_taught(model) else model
    except UserError:
        return None
    if trace.id.startswith("file-") or _name(name) != _name(trace.model.name):
        return None
    kind, key = trace.model.kind, (model, revision, trace.model.revision)
    try:
        parts = _loaded.get_or_make(key, lambda: load_priors(get_backend(), model, revision or None, kind), _size)
    except UserError:
        return None
    _shown.put(trace.id, parts, _size(parts))
    return parts.get(part or trace.part)


def prior_map(trace: Trace, part: str | None) -> PositionalPrior | None:
    """Return the positional prior that a page last used with a trace, or None.

    Exports use this function, because their addresses do not name the model.
    """
    return (_shown.get(trace.id) or {}).get(part or trace.part)


def _name(model: str) -> str:
    """Return a model's name without its owner or folder."""
    return model.rstrip("/").rsplit("/", 1)[-1]


def _size(parts: dict[str, PositionalPrior]) -> int:
    return sum(habits.means.nbytes for habits in parts.values())
