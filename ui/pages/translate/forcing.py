"""A translation of the reader's own is read as in training: each step is given the words before it."""

from __future__ import annotations

from inference.questions.forced import ForcedTarget
from ui.pages.translate.translation import Translation
from ui.run.answering import ask
from wording import _


def forced(translation: Translation) -> str:
    """What that is called, and how many of the reader's tokens the model puts first; "" where it wrote them itself.

    Raises Refusal.
    """
    if translation.way != "own" or not translation.tokens:
        return ""
    asked = translation.asked
    found = ask(
        ForcedTarget(
            model=asked.model, revision=asked.revision, text=asked.text, written=translation.tokens, cut=asked.cut
        ),
        _("Reading your translation"),
    )
    first = int((found.likeliest[0] == translation.tokens).sum())
    return _(
        "Your translation is read by teacher forcing, as in training: at each step the model has read the tokens that"
        " you gave before it, not those that it would have written. It puts {first} of your {tokens} first.",
        first=first,
        tokens=len(translation.tokens),
    )
