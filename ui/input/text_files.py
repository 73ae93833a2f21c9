"""The text in a file that somebody brings. What is wrong with one is said in one sentence."""

from __future__ import annotations

from inference import Refusal
from probing.utf8 import decoded
from wording import sentence

MOST_BYTES = 64_000_000


def decode(data: bytes, *, table: bool = False) -> str:
    """The text in a file, UTF-8 or UTF-16 with its mark; raises Refusal for an empty, large or binary one.

    With ``table``, a Parquet file is read, too: its rows as JSON Lines.

    >>> decode("déjà".encode("utf-16"))
    'déjà'
    """
    if not data.strip():
        raise Refusal(sentence("The file is empty; bring a text file with a sentence on each line, or a CSV file."))
    if len(data) > MOST_BYTES:
        raise Refusal(
            sentence(
                "The file has {megabytes:,.0f} MB; at most {most:,.0f} are read. Split it.",
                megabytes=len(data) / 1e6,
                most=MOST_BYTES / 1e6,
            )
        )
    text = decoded(data, table=table)
    if "\0" in text:
        raise Refusal(
            sentence("The file is binary, not text: it holds zero bytes. Save it as a text or CSV file in UTF-8.")
        )
    return text
