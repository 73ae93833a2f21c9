"""A place where something from outside comes in, and what it may answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import SearchStrategy

from inference import UserError
from tests.fuzz.harming import Ask

ENDS = (".", "?", ".”", ".)")  # of a sentence; what Python says ends otherwise


@dataclass(frozen=True)
class Door:
    """``ask`` answers what comes, or raises one of ``refuses`` in a sentence; everything else is a finding."""

    name: str
    inputs: SearchStrategy[Any]
    ask: Ask
    refuses: tuple[type[Exception], ...] = (UserError,)
    share: float = 1.0  # of the inputs; what is slow gets fewer
    mixes: bool = True  # two inputs make a third; not where a checksum or a length would no longer fit

    def knock(self, given: Any) -> None:
        """Asks; raises what no stranger may cause."""
        try:
            self.ask(given)
        except self.refuses as refusal:
            if isinstance(refusal, UnicodeError) or not str(refusal).endswith(ENDS):
                raise AssertionError(f"No sentence for a reader: {refusal!r}") from refusal
            str(refusal).encode()  # what is said can be shown
