"""One experiment on the page Cause: what is asked, what is watched, what is removed; and what its figures share."""

from __future__ import annotations

from dataclasses import dataclass

from attention.edits import EditSet
from attention.view import View
from ui.ablation import Head, places_of
from ui.pages.cause.metric import AnswerMetric
from ui.pages.cause.options import CauseOptions


@dataclass(frozen=True, eq=False)
class AblationExperiment:
    """What is asked on this page: the text as read, what is watched, what is removed."""

    view: View
    watch: AnswerMetric
    edits: EditSet
    head: Head  # selected on all pages
    options: CauseOptions

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
        return f"{place[0]}-{place[1]}"
