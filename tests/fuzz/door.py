"""A fuzz target: a function that takes input from outside, and its permitted errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import SearchStrategy

from inference import UserError
from tests.fuzz.harming import Ask

ENDS = (".", "?", ".”", ".)")  # A sentence ends with these characters; Python's own messages do not.


@dataclass(frozen=True)
class Door:
    """A fuzz target with its inputs and its permitted errors.

    ``ask`` accepts an input or raises an error of ``refuses`` with a sentence; every other result is a finding.
    """

    name: str
    inputs: SearchStrategy[Any]
    ask: Ask
    refuses: tuple[type[Exception], ...] = (UserError,)
    share: float = 1.0  # Relative number of inputs; slow targets get fewer.
    mixes: bool = True  # False if a mix would have an invalid checksum or length.

    def knock(self, given: Any) -> None:
        """Call ``ask`` with an input; raise any error that an input must not cause."""
        try:
            self.ask(given)
        except self.refuses as refusal:
            if isinstance(refusal, UnicodeError) or not str(refusal).endswith(ENDS):
                raise AssertionError(f"No sentence for a reader: {refusal!r}") from refusal
            str(refusal).encode()  # The message must be encodable to be shown.
