"""The base classes of all requests to a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from inference.request import EMBEDDED, key_of

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class ModelRequest(Generic[Answer]):
    """A request to a model.

    ``ANSWERED_BY`` names the function that computes the answer, as "module.function" in ``inference.runners``; its
    arguments are the loaded model and the request. ``model`` is a model's name, and ``revision`` its branch, tag or
    commit. ``HEAD`` is the task head that the model must have (inference.task_heads), "" for the bare model. Answers
    are frozen values of NumPy arrays and texts.
    """

    ANSWERED_BY: ClassVar[str]
    HEAD: ClassVar[str] = ""
    SEES: ClassVar[bool] = False  # True if a model that reads only pictures can answer

    model: str = EMBEDDED
    revision: str | None = None

    @property
    def needs(self) -> str:
        """Return the task head that the request needs.

        Subclasses that support several heads override this property.
        """
        return self.HEAD

    @property
    def key(self) -> str:
        """Return a key of the request that is the same on every machine."""
        return f"{type(self).__name__}:{key_of(self)}"


@dataclass(frozen=True)
class PredictRequest(ModelRequest[Answer]):
    """A request for a prediction of the model, such as a masked word or the next token."""


@dataclass(frozen=True)
class InspectRequest(ModelRequest[Answer]):
    """A request for internals of the model, such as positions, hidden states or tokenizer steps."""
