"""Translation of the app's messages, which are written in English.

Use `_("…")` for a message that is shown immediately. Use `gettext_lazy("…")` for a message that is created before the
reader's language is known, such as a constant or an error of the backend. `translate` returns a lazy message in the
active language. The translations of each language are in a catalogue, `assets/words/<language>.po`.
"""

from i18n.lazy import LazyMessage, error_message, gettext_lazy, ngettext_lazy, typeset_number
from i18n.lists import format_and_list, format_comma_list, format_or_list, join_sentences
from i18n.translation import (
    ENGLISH,
    _,
    active_language,
    available_languages,
    language_name,
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
    "language_name",
    "ngettext",
    "ngettext_lazy",
    "set_language_source",
    "translate",
    "typeset_number",
    "use_language",
]
