"""Relations in words, for readers who do not know Universal Dependencies' abbreviations by heart."""

from __future__ import annotations

from probing.corpus import ALL
from wording import _, sentence

# universaldependencies.org/u/dep: the dependent is, or marks, this of its head.
WORDS: dict[str, str] = {
    ALL: sentence("every relation but punct and root"),
    "acl": sentence("clause that describes a noun"),
    "advcl": sentence("adverbial clause"),
    "advmod": sentence("adverb"),
    "amod": sentence("adjective of a noun"),
    "appos": sentence("apposition"),
    "aux": sentence("auxiliary verb"),
    "aux:pass": sentence("auxiliary of a passive"),
    "case": sentence("preposition or case mark of its noun"),
    "cc": sentence("conjunction such as “and”"),
    "ccomp": sentence("clause as an object"),
    "clf": sentence("classifier of a noun"),
    "compound": sentence("first part of a compound"),
    "conj": sentence("second of two joined by “and”"),
    "cop": sentence("form of “to be” before a noun or an adjective"),
    "coref": sentence("what a pronoun means"),
    "csubj": sentence("clause as a subject"),
    "dep": sentence("some other dependence"),
    "det": sentence("determiner such as “the”"),
    "discourse": sentence("interjection"),
    "dislocated": sentence("fronted or postponed element"),
    "expl": sentence("“there” or “it” without meaning"),
    "fixed": sentence("part of a fixed expression"),
    "flat": sentence("later part of a name"),
    "goeswith": sentence("part of a word written apart"),
    "iobj": sentence("indirect object"),
    "link": sentence("source and target"),
    "list": sentence("item of a list"),
    "mark": sentence("“that”, “because” or “to” before a clause"),
    "nmod": sentence("noun that describes a noun"),
    "nmod:poss": sentence("possessor"),
    "nsubj": sentence("subject"),
    "nsubj:pass": sentence("subject of a passive"),
    "nummod": sentence("numeral"),
    "obj": sentence("object"),
    "obl": sentence("noun that describes a verb"),
    "orphan": sentence("left over where a verb is missing"),
    "parataxis": sentence("sentence beside a sentence"),
    "punct": sentence("punctuation"),
    "reparandum": sentence("slip that is corrected"),
    "vocative": sentence("who is spoken to"),
    "xcomp": sentence("verb or adjective that shares the subject"),
}


def in_words(relation: str) -> str:
    """A relation with its meaning where it is known.

    >>> in_words("det"), in_words("my own")
    ('det: determiner such as “the”', 'my own')
    """
    return _("{relation}: {meaning}", relation=relation, meaning=WORDS[relation]) if relation in WORDS else relation
