"""An ablation experiment on the page Cause, shared by its figures."""

from __future__ import annotations

from dataclasses import dataclass

from attention.edits import EditSet
from attention.view import View
from ui.ablation.edits import Head, places_of
from ui.pages.cause.metric import AnswerMetric
from ui.pages.cause.options import CauseOptions


@dataclass(frozen=True, eq=False)
class AblationExperiment:
    """An ablation experiment: the text as a view, the metric and the edits."""

    view: View
    watch: AnswerMetric
    edits: EditSet
    head: Head  # the head that is selected on all pages
    options: CauseOptions

    @property
    def places(self) -> list[Head]:
        """Return all heads as (layer, head)."""
        return places_of(self.view.trace)

    @property
    def tokens(self) -> int:
        """Return the number of tokens in the text."""
        return len(self.view.trace.source)

    def name(self, place: Head) -> str:
        """Return the name of a head, such as "3-7"."""
        return f"{place[0]}-{place[1]}"
