"""The annotated sentences that come with the app."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from probing import formats
from probing.corpus import AnnotatedCorpus

PROBES = Path(__file__).resolve().parent.parent / "assets" / "probes"
READY = {"grammar": ("grammar.conllu", "conllu"), "pronouns": ("pronouns.csv", "csv")}


@cache
def load_ready_set(name: str) -> AnnotatedCorpus:
    """One of the sets that come with the app.

    >>> len(load_ready_set("grammar").items)
    60
    """
    file, format = READY[name]
    return formats.load(PROBES / file, format)
