"""The annotated sentences that come with the app."""

from __future__ import annotations

from functools import cache

from probing import formats
from probing.corpus import Corpus
from ui.places import ASSETS

PROBES = ASSETS / "probes"
READY = {"grammar": ("grammar.conllu", "conllu"), "pronouns": ("pronouns.csv", "csv")}


@cache
def ready(name: str) -> Corpus:
    """One of the sets that come with the app."""
    file, format = READY[name]
    return formats.load(PROBES / file, format)
