"""What the app says, and in which language: sentences are written in English, and told in the reader's.

A sentence that goes on the screen at once is `_("…")`; one that is made where nobody knows who reads it (a refusal of
the backend, a constant of a module) is `gettext_lazy("…")` and is told when it is shown. Translations are one file for
each language, `assets/words/<active_language>.po`.
"""

from i18n.lazy import LazyMessage, gettext_lazy, ngettext_lazy
from i18n.lists import format_and_list, format_comma_list, format_or_list, join_sentences
from i18n.serialization import error_message
from i18n.translation import (
    ENGLISH,
    _,
    active_language,
    available_languages,
    ngettext,
    set_language_source,
    translate,
    use_language,
)

__all__ = [
    "ENGLISH",
    "LazyMessage",
    "_",
    "active_language",
    "available_languages",
    "error_message",
    "format_and_list",
    "format_comma_list",
    "format_or_list",
    "gettext_lazy",
    "join_sentences",
    "ngettext",
    "ngettext_lazy",
    "set_language_source",
    "translate",
    "use_language",
]
