"""What every question has in common: the model that is asked, the head it needs, and a key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from inference.request import EMBEDDED, key_of

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class ModelRequest(Generic[Answer]):
    """A question to one model, answered by ``answer(loaded, question)`` in ``inference.runners.<ANSWERED_BY>``.

    ``model`` and ``revision`` are as in a TraceRequest. ``HEAD`` names the head that the model must have
    (inference.task_heads), "" for the bare model. Answers are frozen values of numpy arrays and texts.
    """

    ANSWERED_BY: ClassVar[str]
    HEAD: ClassVar[str] = ""
    SEES: ClassVar[bool] = False  # whether it can be asked of a model that reads pictures alone

    model: str = EMBEDDED
    revision: str | None = None

    @property
    def needs(self) -> str:
        """The head that answers it; a question that any head may answer says here which it asks."""
        return self.HEAD

    @property
    def key(self) -> str:
        """The same question has the same key on every machine."""
        return f"{type(self).__name__}:{key_of(self)}"


@dataclass(frozen=True)
class PredictRequest(ModelRequest[Answer]):
    """What the model says: a masked word, whether a sentence follows, the next token."""


@dataclass(frozen=True)
class InspectRequest(ModelRequest[Answer]):
    """What the model holds or computes on the way: a layer's numbers, positions, vectors, its tokenizer's steps."""
