"""Options of the Question answering page, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from inference.tasks.answers import BOTH, END, START
from ui.state.params import AnsweringOptions, drop_place
from viz.options import option

ENDS = {BOTH: gettext_lazy("Start and end"), START: gettext_lazy("Start"), END: gettext_lazy("End")}
QUESTION, PASSAGE, CHOSEN = "question", "passage", "answer"
PLACES = {
    QUESTION: gettext_lazy("Question"),
    PASSAGE: gettext_lazy("Passage"),
    CHOSEN: gettext_lazy("Answer"),
}


@dataclass(frozen=True)
class AnswersOptions(AnsweringOptions):
    """Options of the Question answering page."""

    answer: int = option(
        0,
        of_text=drop_place,
        label=gettext_lazy("Explain the answer"),
        help=gettext_lazy("The likeliest answer is first."),
    )
    ends: str = option(
        BOTH, choices=ENDS, label=gettext_lazy("Logit"), help=gettext_lazy("An answer's score is their sum.")
    )
    looks: str = option(
        CHOSEN, choices=PLACES, label=gettext_lazy("Attention from"), help=gettext_lazy("The query tokens")
    )
    at: str = option(QUESTION, choices=PLACES, label=gettext_lazy("Attention to"), help=gettext_lazy("The key tokens"))
