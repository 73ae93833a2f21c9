"""Real Chinese sentences from the labelled data sets that come with the app."""

from __future__ import annotations

from functools import cache

from probing.labelled import ready_sets
from probing.labelled.ready_sets import BY_ID

EACH = 250


@cache
def sentences() -> tuple[str, ...]:
    """Return 500 sentences, half from news and half from an encyclopaedia.

    They contain Latin words, numbers and rare characters.
    """
    news = ready_sets.unpack(BY_ID["sib-200-zh"].path.read_bytes())[0][:EACH]
    articles = ready_sets.unpack(BY_ID["uner-zh"].path.read_bytes())[0][:EACH]
    return (
        *(ready_sets.parse_labeled(line).text for line in news),
        *(ready_sets.parse_tagged(line).text for line in articles),
    )
