"""The translation as a token strip with probabilities; a click chooses a step."""

from __future__ import annotations

import numpy as np

from attention.alignment import CrossRowConvention, read
from attention.mask import FloatArray
from attention.view import DisplayToken, View
from i18n import _
from inference.tasks.decoding import ForcedTarget
from ui.pages.translate.options import TranslateOptions
from ui.pages.translate.translation import Translation
from ui.run.notices import show_notice
from ui.run.page_model import ask_model
from ui.show.text import percent
from ui.state.params import set_params
from ui.state.view_state import ViewState
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import TokenChip

STRIP = "translate_strip"


def forcing_request(translation: Translation) -> ForcedTarget:
    """Return the teacher-forcing request for the probabilities of a translation's tokens."""
    asked = translation.asked
    return ForcedTarget(
        model=asked.model, revision=asked.revision, text=asked.text, cut=asked.cut, written=translation.tokens
    )


def logs_of(translation: Translation) -> FloatArray:
    """Return the log-probability (natural) of each written token, shape (step,); may raise UserError."""
    if not translation.tokens:
        return np.zeros(0, np.float32)
    logs: FloatArray = ask_model(forcing_request(translation), _("Asking the model")).logs[0]
    return logs


def cells_of(choice: ViewState, translation: Translation) -> tuple[DisplayToken, ...]:
    """Return the written tokens or words as cells; their ``pieces`` are ranges of steps."""
    trace = read(translation.trace, CrossRowConvention.WRITING)
    return View(trace, "cross", words=choice.words, special=choice.special).queries


def spaced_label(label: str, glued: bool) -> str:
    """Return a label with a leading no-break space if its chip is glued to the previous chip.

    >>> spaced_label("0.02", True), spaced_label("", True)
    ('\\xa00.02', '')
    """
    return f"\N{NO-BREAK SPACE}{label}" if glued and label else label


def target_strip(choice: ViewState, translation: Translation, at: int, logs: FloatArray) -> None:
    """Draw the translation as chips with step ``at`` outlined; add a notice if it is unfinished."""
    cells = cells_of(choice, translation)
    chips = []
    for place, cell in enumerate(cells):
        start, stop = cell.pieces
        known = stop <= len(logs)
        chance = percent(float(np.exp(logs[start:stop].sum()))) if known else ""
        glued = place > 0 and cell.goes_on
        chips.append(
            TokenChip(
                translation.cell_label(cell),
                mark="chosen" if start <= at < stop else "",
                glued=glued,
                special=cell.special,
                unknown=cell.unknown,
                title=_("step {step}: probability {probability}", step=start + 1, probability=chance)
                if known
                else _("step {step}: not written", step=start + 1),
                label=spaced_label(chance, glued),
            )
        )

    def keep() -> None:
        place = token_strip.picked_chip(STRIP)
        if place is not None and place < len(cells):
            set_params(TranslateOptions, step=cells[place].pieces[0])

    title = _("Translation, with probabilities given the previous tokens. Click to choose a step")
    token_strip.mount(chips, STRIP, title=title, on_pick=keep)
    if not translation.is_finished and translation.way != "own":
        show_notice(_("The translation is unfinished."), "status")
