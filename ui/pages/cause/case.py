"""One experiment on the page Cause: what is asked, what is watched, what is removed; and what its figures share."""

from __future__ import annotations

from dataclasses import dataclass

from attention.cause import Set
from attention.view import View
from ui.pages.cause.options import Cause
from ui.pages.cause.watch import Watch
from ui.removing.edits import Head
from ui.removing.every_head import places_of


@dataclass(frozen=True, eq=False)
class Case:
    """What is asked on this page: the text as read, what is watched, what is removed."""

    view: View
    watch: Watch
    edits: Set
    head: Head  # selected on all pages
    options: Cause
    base: int  # from which layers and heads are counted

    @property
    def places(self) -> list[Head]:
        """Every head."""
        return places_of(self.view.trace)

    @property
    def tokens(self) -> int:
        """Tokens of the text."""
        return len(self.view.trace.source)

    def name(self, place: Head) -> str:
        """A head as it is called."""
        return f"{place[0] + self.base}-{place[1] + self.base}"
