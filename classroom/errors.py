"""The error of the classroom, with a message for users."""

from __future__ import annotations


class NotInClass(ValueError):
    """Raised if a room does not exist, or if a visitor may not do something in it."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence
