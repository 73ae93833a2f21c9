"""What a model's heads do whatever the text says: stored for the models that come along, else measured once."""

from __future__ import annotations

from attention.excess import PositionalPrior
from attention.trace import Trace
from inference import UserError
from inference.byte_cache import ByteLru
from inference.files import sources
from probing.reference_priors import measure_priors, stored_priors
from ui.run.services import get_backend

KEPT = 2**23  # bytes; of one model they are some tens of thousands

_measured: ByteLru[dict[str, PositionalPrior]] = ByteLru(KEPT)
_shown: ByteLru[dict[str, PositionalPrior]] = ByteLru(KEPT)  # by trace


def prior_of(model: str, revision: str, trace: Trace, part: str | None) -> PositionalPrior | None:
    """The habits of the heads of a part of the trace's model, as a choice names it; None where they cannot be known.

    They cannot for an opened file, whose model may not be here, for a trace of another model than the chosen one, and
    for a model that does not read the sentences.
    """
    try:
        name = sources.fine_tuned_title(model, get_backend().settings) if sources.is_taught(model) else model
    except UserError:
        return None
    if trace.id.startswith("file-") or _name(name) != _name(trace.model.name):
        return None
    parts = stored_priors().get(model) if not revision else None
    if parts is None:
        kind, key = trace.model.kind, (model, revision, trace.model.revision)
        try:
            parts = _measured.get_or_make(
                key, lambda: measure_priors(get_backend(), model, revision or None, kind), _size
            )
        except UserError:
            return None
    _shown.put(trace.id, parts, _size(parts))
    return parts.get(part or trace.part)


def prior_map(trace: Trace, part: str | None) -> PositionalPrior | None:
    """The habits that a page has compared this trace with lately: a file of what is on screen names no model."""
    return (_shown.get(trace.id) or {}).get(part or trace.part)


def _name(model: str) -> str:
    """A model's name without its owner or its folder."""
    return model.rstrip("/").rsplit("/", 1)[-1]


def _size(parts: dict[str, PositionalPrior]) -> int:
    return sum(habits.means.nbytes for habits in parts.values())
