"""What the app says, and in which language: sentences are written in English, and told in the reader's.

A sentence that goes on the screen at once is `_("…")`; one that is made where nobody knows who reads it (a refusal of
the backend, a constant of a module) is `sentence("…")` and is told when it is shown. Translations are one file for
each language, `assets/words/<language>.po`.
"""

from wording.reasons import reason
from wording.sentences import Sentence, sentence, sentences
from wording.spoken import ENGLISH, _, language, languages, ngettext, pick_language_by, speaking, told

__all__ = [
    "ENGLISH",
    "Sentence",
    "_",
    "language",
    "languages",
    "ngettext",
    "pick_language_by",
    "reason",
    "sentence",
    "sentences",
    "speaking",
    "told",
]
