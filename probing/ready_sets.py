"""The annotated sentences that come with the app."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from probing import formats
from probing.corpus import Corpus

PROBES = Path(__file__).resolve().parent.parent / "assets" / "probes"
READY = {"grammar": ("grammar.conllu", "conllu"), "pronouns": ("pronouns.csv", "csv")}


@cache
def ready(name: str) -> Corpus:
    """One of the sets that come with the app.

    >>> len(ready("grammar").items)
    60
    """
    file, format = READY[name]
    return formats.load(PROBES / file, format)
