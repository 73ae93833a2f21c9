"""What a class refuses, in one sentence."""

from __future__ import annotations


class NotInClass(ValueError):
    """What was asked of a class cannot be: there is no such room, or it is not this visitor's to do."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence
