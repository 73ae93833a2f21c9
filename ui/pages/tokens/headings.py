"""Column headings of the tables on the Tokens page; CSV files use the English names."""

from __future__ import annotations

from collections.abc import Mapping

from i18n import gettext_lazy, translate

COMPARED = {
    "tokenizer": gettext_lazy("tokenizer"),
    "cuts by": gettext_lazy("cuts by"),
    "vocabulary": gettext_lazy("vocabulary"),
    "tokens": gettext_lazy("tokens"),
    "special": gettext_lazy("special"),
    "characters per piece": gettext_lazy("characters per piece"),
    "pieces per word": gettext_lazy("pieces per word"),
    "unknown": gettext_lazy("unknown"),
}
TABLE = {
    "position": gettext_lazy("position"),
    "token": gettext_lazy("token"),
    "number": gettext_lazy("number"),
    "segment": gettext_lazy("segment"),
    "mask": gettext_lazy("mask"),
    "special": gettext_lazy("special"),
    "from": gettext_lazy("from"),
    "to": gettext_lazy("to"),
    "characters": gettext_lazy("characters"),
}
WALK = {
    "step": gettext_lazy("step"),
    "left to cut": gettext_lazy("left to cut"),
    "not in the vocabulary": gettext_lazy("not in the vocabulary"),
    "taken": gettext_lazy("taken"),
    "symbols": gettext_lazy("symbols"),
    "joined": gettext_lazy("joined"),
    "learnt as merge": gettext_lazy("learnt as merge"),
    "characters": gettext_lazy("characters"),
    "last piece of the best way": gettext_lazy("last piece of the best way"),
    "its log probability": gettext_lazy("its log probability"),
    "of the whole way": gettext_lazy("of the whole way"),
}


def headings(names: Mapping[str, str]) -> dict[str, str]:
    """Return the column headings in the current language."""
    return {name: translate(heading) for name, heading in names.items()}
