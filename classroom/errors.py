"""The error of classes of students, whose message is shown to users."""

from __future__ import annotations

from i18n import gettext_lazy


class NotInClass(ValueError):
    """Raised if a class of students does not exist, or if a visitor may not do something in it."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def wrong_length(field: str, n: int, most: int) -> NotInClass:
    """Return the error for a text of ``n`` characters if 1 to ``most`` are allowed; ``field`` names the text."""
    return NotInClass(
        gettext_lazy("{field} has {n:,} characters; expected 1 to {most:,}.", field=field, n=n, most=most)
    )


def no_room(code: str) -> str:
    """Return the message for a code to which no class of students belongs."""
    return gettext_lazy("There is no class “{code}”: it is closed, or the code is wrong.", code=code[:20])


def too_long_view() -> NotInClass:
    """Return the error for a view whose address is too long to present."""
    return NotInClass(gettext_lazy("This view is too long to share. Shorten the text."))
