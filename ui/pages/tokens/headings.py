"""What the columns of this page's tables are called on screen; in a file they have their English names."""

from __future__ import annotations

from collections.abc import Mapping

from wording import sentence, told

COMPARED = {
    "tokenizer": sentence("tokenizer"),
    "cuts by": sentence("cuts by"),
    "vocabulary": sentence("vocabulary"),
    "tokens": sentence("tokens"),
    "special": sentence("special"),
    "characters per piece": sentence("characters per piece"),
    "pieces per word": sentence("pieces per word"),
    "unknown": sentence("unknown"),
}
TABLE = {
    "position": sentence("position"),
    "token": sentence("token"),
    "number": sentence("number"),
    "segment": sentence("segment"),
    "mask": sentence("mask"),
    "special": sentence("special"),
    "from": sentence("from"),
    "to": sentence("to"),
    "characters": sentence("characters"),
}
WALK = {
    "step": sentence("step"),
    "left to cut": sentence("left to cut"),
    "not in the vocabulary": sentence("not in the vocabulary"),
    "taken": sentence("taken"),
    "symbols": sentence("symbols"),
    "joined": sentence("joined"),
    "learnt as merge": sentence("learnt as merge"),
    "characters": sentence("characters"),
    "last piece of the best way": sentence("last piece of the best way"),
    "its log probability": sentence("its log probability"),
    "of the whole way": sentence("of the whole way"),
}


def headings(names: Mapping[str, str]) -> dict[str, str]:
    """The names of columns in the language that is spoken, for a table that is shown."""
    return {name: told(heading) for name, heading in names.items()}
