"""What stands for a tokenizer in a model that has none because it reads pictures."""

from __future__ import annotations

from typing import NoReturn

from i18n import gettext_lazy
from inference.errors import UserError
from inference.text.tokenizer import SafeTokenizer


class NoText(SafeTokenizer):
    """Refuses every text in a sentence."""

    def __init__(self, name: str) -> None:
        self.tokenizer = None
        self.name = name
        self.vocabulary = self.target_vocabulary = 0
        self.pairs = False

    def read(self, text: str, pair: str | None, limit: int | None, cut: int | None = None) -> NoReturn:  # noqa: ARG002  # as Reader's
        """Raises Refusal."""
        raise refusal(self.name)


def refusal(name: str) -> UserError:
    """That a model reads no text."""
    return UserError(
        gettext_lazy("{name} reads pictures, not text. Give it a picture, or pick a text model.", name=name),
        way_out="embedded",
    )
