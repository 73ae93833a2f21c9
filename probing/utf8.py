"""What a reader's file says, as text."""

from __future__ import annotations

from inference.errors import Refusal
from wording import sentence


def decoded(content: bytes) -> str:
    """The text of a file in UTF-8, with or without its mark; raises Refusal with the first line that is not.

    >>> decoded(b"\\xef\\xbb\\xbfIl fait froid.")
    'Il fait froid.'
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise Refusal(sentence("Line {line} is not UTF-8 text. Save the file as UTF-8.", line=line)) from error
