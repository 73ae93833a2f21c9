"""Chinese as people write it: sentences of the labelled sets that come with the app."""

from __future__ import annotations

from functools import cache

from probing.labelled import packed_format
from probing.labelled.cards import BY_ID

EACH = 250


@cache
def sentences() -> tuple[str, ...]:
    """Five hundred: half of news, half of an encyclopaedia, with Latin words, numbers and rare characters in them."""
    news = packed_format.unpack(BY_ID["sib-200-zh"].path.read_bytes())[0][:EACH]
    articles = packed_format.unpack(BY_ID["uner-zh"].path.read_bytes())[0][:EACH]
    return (
        *(packed_format.parse_labeled(line).text for line in news),
        *(packed_format.parse_tagged(line).text for line in articles),
    )
