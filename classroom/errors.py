"""The error of the classroom, whose message is shown to users."""

from __future__ import annotations


class NotInClass(ValueError):
    """Raised if a room does not exist, or if a visitor is not allowed to do something in it."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence
