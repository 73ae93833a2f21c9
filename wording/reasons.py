"""What an error says, so that it can still be told in another language."""

from __future__ import annotations

from wording.sentences import Sentence


def reason(error: Exception) -> str:
    """The sentence that the error was made of, where it was made of one: `str` of it is English for good.

    >>> reason(ValueError(Sentence("Layer {layer}", layer=3)))
    'Layer 3'
    >>> reason(ValueError("a", 1)), reason(ValueError())
    ("('a', 1)", '')
    """
    said = error.args[0] if error.args else ""
    return said if isinstance(said, Sentence) else str(error)
