"""What the app says, and in which language: sentences are written in English, and told in the reader's.

A sentence that goes on the screen at once is `_("…")`; one that is made where nobody knows who reads it (a refusal of
the backend, a constant of a module) is `sentence("…")` and is told when it is shown. Translations are one file for
each language, `assets/words/<language>.po`.
"""

from wording.joined import all_of, any_of, listed, together
from wording.sentences import Sentence, sentence, sentences
from wording.spoken import ENGLISH, _, language, languages, ngettext, pick_language_by, speaking, told
from wording.stored import said_by

__all__ = [
    "ENGLISH",
    "Sentence",
    "_",
    "all_of",
    "any_of",
    "language",
    "languages",
    "listed",
    "ngettext",
    "pick_language_by",
    "said_by",
    "sentence",
    "sentences",
    "speaking",
    "together",
    "told",
]
