"""Notes on a translation: teacher forcing of the reader's own, and a reference for an example."""

from __future__ import annotations

from i18n import _, gettext_lazy
from inference.tasks.decoding import ForcedTarget
from ui.pages.translate.translation import Translation
from ui.run.page_model import ask_model
from ui.run.services import get_backend
from ui.state.examples import example_of

FRENCH = gettext_lazy("English to French")  # the language's name in model cards


def writes_french(model: str) -> bool:
    """Return True if a model is listed as a translator from English to French."""
    return any(card.id == model and card.language == FRENCH for card in get_backend().models())


def reference(source: str, written: str) -> str:
    """Return a note with the reference translation of an example; "" if it matches or is missing.

    >>> reference("A text of my own.", "Un texte.")
    ''
    """
    french = (example_of(source, "") or {}).get("french", "")
    if not french or _letters(french) == _letters(written):
        return ""
    return _(
        "A correct translation: “{french}”",
        french=french,
    )


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def describe_forcing(translation: Translation) -> str:
    """Return sentences on teacher forcing and the number of given tokens that the model ranks first.

    Return "" if the model wrote the translation itself. May raise UserError.
    """
    if translation.way != "own" or not translation.tokens:
        return ""
    asked = translation.asked
    found = ask_model(
        ForcedTarget(
            model=asked.model, revision=asked.revision, text=asked.text, written=translation.tokens, cut=asked.cut
        ),
        _("Asking the model"),
    )
    first = int((found.likeliest[0] == translation.tokens).sum())
    return _(
        "Teacher forcing: each step sees your tokens, not the model's. {first} of your {tokens} tokens are its first"
        " choice.",
        first=first,
        tokens=len(translation.tokens),
    )
