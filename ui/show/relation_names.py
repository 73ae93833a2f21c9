"""Relations in words, for readers who do not know Universal Dependencies' abbreviations by heart."""

from __future__ import annotations

from i18n import _, gettext_lazy
from probing.corpus import ALL

# universaldependencies.org/u/dep: the dependent is, or marks, this of its head.
WORDS: dict[str, str] = {
    ALL: gettext_lazy("every relation but punct and root"),
    "acl": gettext_lazy("clause that describes a noun"),
    "advcl": gettext_lazy("adverbial clause"),
    "advmod": gettext_lazy("adverb"),
    "amod": gettext_lazy("adjective of a noun"),
    "appos": gettext_lazy("apposition"),
    "aux": gettext_lazy("auxiliary verb"),
    "aux:pass": gettext_lazy("auxiliary of a passive"),
    "case": gettext_lazy("preposition or case mark of its noun"),
    "cc": gettext_lazy("conjunction such as “and”"),
    "ccomp": gettext_lazy("clause as an object"),
    "clf": gettext_lazy("classifier of a noun"),
    "compound": gettext_lazy("first part of a compound"),
    "conj": gettext_lazy("second of two joined by “and”"),
    "cop": gettext_lazy("form of “to be” before a noun or an adjective"),
    "coref": gettext_lazy("what a pronoun means"),
    "csubj": gettext_lazy("clause as a subject"),
    "dep": gettext_lazy("some other dependence"),
    "det": gettext_lazy("determiner such as “the”"),
    "discourse": gettext_lazy("interjection"),
    "dislocated": gettext_lazy("fronted or postponed element"),
    "expl": gettext_lazy("“there” or “it” without meaning"),
    "fixed": gettext_lazy("part of a fixed expression"),
    "flat": gettext_lazy("later part of a name"),
    "goeswith": gettext_lazy("part of a word written apart"),
    "iobj": gettext_lazy("indirect object"),
    "link": gettext_lazy("source and target"),
    "list": gettext_lazy("item of a list"),
    "mark": gettext_lazy("“that”, “because” or “to” before a clause"),
    "nmod": gettext_lazy("noun that describes a noun"),
    "nmod:poss": gettext_lazy("possessor"),
    "nsubj": gettext_lazy("subject"),
    "nsubj:pass": gettext_lazy("subject of a passive"),
    "nummod": gettext_lazy("numeral"),
    "obj": gettext_lazy("object"),
    "obl": gettext_lazy("noun that describes a verb"),
    "orphan": gettext_lazy("left over where a verb is missing"),
    "parataxis": gettext_lazy("sentence beside a sentence"),
    "punct": gettext_lazy("punctuation"),
    "reparandum": gettext_lazy("slip that is corrected"),
    "vocative": gettext_lazy("who is spoken to"),
    "xcomp": gettext_lazy("verb or adjective that shares the subject"),
}


def describe_relation(relation: str) -> str:
    """A relation with its meaning where it is known.

    >>> describe_relation("det"), describe_relation("my own")
    ('det: determiner such as “the”', 'my own')
    """
    return _("{relation}: {meaning}", relation=relation, meaning=WORDS[relation]) if relation in WORDS else relation
