"""The translation as chips: a click on one picks its step; underneath stands how likely the model finds it."""

from __future__ import annotations

import numpy as np

from attention.alignment import ReadAt, read
from attention.cells import Cell
from attention.mask import Array
from attention.view import View
from inference.questions.forced import ForcedTarget
from ui.pages.translate.options import Translate
from ui.pages.translate.translation import Translation
from ui.run.answering import ask
from ui.run.refusals import say
from ui.show.numbers import percent
from ui.state.choice import Choice
from ui.state.options import choose_own
from viz.components.strip import strip
from viz.components.strip.strip import Chip
from wording import _

STRIP = "translate_strip"


def forced(translation: Translation) -> ForcedTarget:
    """The question how likely each token of a translation is."""
    asked = translation.asked
    return ForcedTarget(
        model=asked.model, revision=asked.revision, text=asked.text, cut=asked.cut, written=translation.tokens
    )


def logs_of(translation: Translation) -> Array:
    """Natural logarithm of each written token's probability, (step,), given those before it. Raises Refusal."""
    if not translation.tokens:
        return np.zeros(0, np.float32)
    logs: Array = ask(forced(translation), _("Asking how likely it is")).logs[0]
    return logs


def cells_of(choice: Choice, translation: Translation) -> tuple[Cell, ...]:
    """What the steps write, by pieces or by words; their ``pieces`` count steps."""
    trace = read(translation.trace, ReadAt.WRITING)
    return View(trace, "cross", words=choice.words, special=choice.special).queries


def apart(label: str, glued: bool) -> str:
    """A label that stays apart from the one before it where the chips touch.

    >>> apart("0.02", True), apart("", True)
    ('\\xa00.02', '')
    """
    return f"\N{NO-BREAK SPACE}{label}" if glued and label else label


def target_strip(choice: Choice, translation: Translation, at: int, logs: Array) -> None:
    """The translation as chips, the step ``at`` outlined; and a sentence where the model has not ended it."""
    cells = cells_of(choice, translation)
    chips = []
    for place, cell in enumerate(cells):
        start, stop = cell.pieces
        known = stop <= len(logs)
        chance = percent(float(np.exp(logs[start:stop].sum()))) if known else ""
        glued = place > 0 and cell.goes_on
        chips.append(
            Chip(
                translation.shown(cell),
                mark="chosen" if start <= at < stop else "",
                glued=glued,
                special=cell.special,
                unknown=cell.unknown,
                title=_("step {step}: probability {probability}", step=start + 1, probability=chance)
                if known
                else _("step {step}: not written", step=start + 1),
                label=apart(chance, glued),
            )
        )

    def keep() -> None:
        place = strip.picked(STRIP)
        if place is not None and place < len(cells):
            choose_own(Translate, step=cells[place].pieces[0])

    title = (
        _(
            "The translation, each word with its probability given those before it, the product over its pieces."
            " Click one for its step"
        )
        if choice.words
        else _("The translation, each token with its probability given those before it. Click one for its step")
    )
    strip.mount(chips, STRIP, title=title, on_pick=keep)
    if not translation.ended and translation.way != "own":
        say(_("The model has not ended its text here; what is shown is its beginning."), "status")
