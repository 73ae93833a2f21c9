"""What a model's heads do whatever the text says: stored for the models that come along, else measured once."""

from __future__ import annotations

from attention.habits import Habits
from attention.trace import Trace
from inference import Refusal
from inference.files import taught
from inference.memory import ByteLru
from probing.reference import measured, stored
from ui.run.shelf import backend

KEPT = 2**23  # bytes; of one model they are some tens of thousands

_measured: ByteLru[dict[str, Habits]] = ByteLru(KEPT)
_shown: ByteLru[dict[str, Habits]] = ByteLru(KEPT)  # by trace


def habits_of(model: str, revision: str, trace: Trace, part: str | None) -> Habits | None:
    """The habits of the heads of a part of the trace's model, as a choice names it; None where they cannot be known.

    They cannot for an opened file, whose model may not be here, for a trace of another model than the chosen one, and
    for a model that does not read the sentences.
    """
    try:
        name = taught.title(model, backend().settings) if taught.is_taught(model) else model
    except Refusal:
        return None
    if trace.id.startswith("file-") or _name(name) != _name(trace.model.name):
        return None
    parts = stored().get(model) if not revision else None
    if parts is None:
        kind, key = trace.model.kind, (model, revision, trace.model.revision)
        try:
            parts = _measured.get_or_make(key, lambda: measured(backend(), model, revision or None, kind), _size)
        except Refusal:
            return None
    _shown.put(trace.id, parts, _size(parts))
    return parts.get(part or trace.part)


def habits_shown(trace: Trace, part: str | None) -> Habits | None:
    """The habits that a page has compared this trace with lately: a file of what is on screen names no model."""
    return (_shown.get(trace.id) or {}).get(part or trace.part)


def _name(model: str) -> str:
    """A model's name without its owner or its folder."""
    return model.rstrip("/").rsplit("/", 1)[-1]


def _size(parts: dict[str, Habits]) -> int:
    return sum(habits.means.nbytes for habits in parts.values())
