"""Relations in words, for readers who do not know Universal Dependencies' abbreviations by heart."""

from __future__ import annotations

from probing.corpus import ALL

# universaldependencies.org/u/dep: the dependent is, or marks, this of its head.
WORDS = {
    ALL: "every relation but punct and root",
    "acl": "clause that describes a noun",
    "advcl": "adverbial clause",
    "advmod": "adverb",
    "amod": "adjective of a noun",
    "appos": "apposition",
    "aux": "auxiliary verb",
    "aux:pass": "auxiliary of a passive",
    "case": "preposition or case mark of its noun",
    "cc": "conjunction such as “and”",
    "ccomp": "clause as an object",
    "clf": "classifier",
    "compound": "first part of a compound",
    "conj": "second of two joined by “and”",
    "cop": "form of “to be” before a noun or an adjective",
    "coref": "what a pronoun means",
    "csubj": "clause as a subject",
    "dep": "some other dependence",
    "det": "determiner such as “the”",
    "discourse": "interjection",
    "dislocated": "fronted or postponed element",
    "expl": "“there” or “it” without meaning",
    "fixed": "part of a fixed expression",
    "flat": "later part of a name",
    "goeswith": "part of a word written apart",
    "iobj": "indirect object",
    "link": "source and target",
    "list": "item of a list",
    "mark": "“that”, “because” or “to” before a clause",
    "nmod": "noun that describes a noun",
    "nmod:poss": "possessor",
    "nsubj": "subject",
    "nsubj:pass": "subject of a passive",
    "nummod": "number",
    "obj": "object",
    "obl": "noun that describes a verb",
    "orphan": "left over where a verb is missing",
    "parataxis": "sentence beside a sentence",
    "punct": "punctuation",
    "reparandum": "slip that is corrected",
    "vocative": "who is spoken to",
    "xcomp": "verb or adjective that shares the subject",
}


def in_words(relation: str) -> str:
    """A relation with its meaning where it is known.

    >>> in_words("det"), in_words("my own")
    ('det: determiner such as “the”', 'my own')
    """
    return f"{relation}: {WORDS[relation]}" if relation in WORDS else relation
