"""Catalogues of translated messages, the language of the current reader, and translation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from typing import Any

from i18n.lazy import FORMATTER, LazyMessage, fill_template, gettext_lazy, ngettext_lazy

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "words"


@cache
def catalogue_languages() -> tuple[str, ...]:
    """Return the sorted codes of the languages that have a catalogue.

    >>> "zh" in catalogue_languages()
    True
    """
    return tuple(sorted(file.stem for file in FOLDER.glob("*.po")))


@cache
def catalogue(language: str) -> GNUTranslations:
    """Return the translations of a language, without messages whose translation is incomplete.

    Messages without a translation are shown in English. Babel is imported here, because English does not need it.
    """
    from babel.messages.catalog import Catalog
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with (FOLDER / f"{language}.po").open("rb") as file:
        everything = read_po(file, locale=language)
    # gettext would show the empty forms of an untranslated plural.
    translated = Catalog(locale=everything.locale, charset=everything.charset)
    for message in everything:
        forms = message.string if isinstance(message.string, tuple | list) else (message.string,)
        if message.id and all(forms):
            translated.add(message.id, message.string)
    compiled = BytesIO()
    write_mo(compiled, translated)
    compiled.seek(0)
    return GNUTranslations(compiled)


WIDE = "，。、；：！？（）《》「」『』【】…"  # full-width marks, which include their own space
QUOTES = "“”‘’"
_CHINESE = re.compile("[\u2e80-\u2fff\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def fill_with_spacing(template: str, values: dict[str, Any]) -> str:
    """Insert values into a template by str.format; in Chinese, drop unneeded spaces around the values.

    Only a single space at each edge of a value is dropped. If no value is a string, all spaces stay.

    >>> pairs = ("猫", "狗"), ("BERT", "狗"), ("“it”", "“cat”")
    >>> [fill_with_spacing("{a} 和 {b}", {"a": a, "b": b}) for a, b in pairs]
    ['猫和狗', 'BERT 和狗', '“it”和“cat”']
    >>> fill_with_spacing("{first} {then}", {"first": "它看。", "then": "BERT 说。"})
    '它看。BERT 说。'
    """
    if not any(isinstance(value, str) for value in values.values()):
        return fill_template(template, values)  # spaces around numbers stay
    whole, due = "", ""
    for text, name, spec, conversion in _parse_template(template):
        bare = text.strip(" ")
        before = text[: len(text) - len(text.lstrip(" "))]
        whole, due = _append(whole, due + before, bare), (text[len(before) + len(bare) :] if bare else due + before)
        if name is not None:
            value, _used = FORMATTER.get_field(name, (), values)
            given = FORMATTER.format_field(FORMATTER.convert_field(value, conversion), spec)
            whole, due = _append(whole, due, given), "" if given else due
    return whole + due


@cache
def _parse_template(template: str) -> tuple[tuple[str, str | None, str, str | None], ...]:
    return tuple((text, name, spec or "", conversion) for text, name, spec, conversion in FORMATTER.parse(template))


def _append(whole: str, space: str, then: str) -> str:
    """Append ``space`` and ``then`` to ``whole``, without a space that is not needed.

    Return ``whole`` if ``then`` is empty.
    """
    return (
        whole + ("" if whole and space == " " and not needs_space(whole[-1], then[0]) else space) + then
        if then
        else whole
    )


def needs_space(left: str, right: str) -> bool:
    """Return True if a Chinese text needs a space between the characters ``left`` and ``right``.

    >>> [needs_space(*two) for two in ("层是", "层3", "”最", "””", "。B", "a（", "ab")]
    [False, True, False, True, False, False, True]
    """
    if left in WIDE or right in WIDE:
        return False
    chinese = [_CHINESE.match(letter) is not None for letter in (left, right)]
    return not (
        any(chinese) and all(one or letter in QUOTES for one, letter in zip(chinese, (left, right), strict=True))
    )


ENGLISH = "en"
_CHOSEN: ContextVar[str | None] = ContextVar("language", default=None)
_FINDERS: list[Callable[[], str]] = []


def available_languages() -> tuple[str, ...]:
    """Return the codes of all languages of the app, English first.

    >>> available_languages()[0]
    'en'
    """
    return (ENGLISH, *catalogue_languages())


def language_name(code: str) -> str:
    """Return the name of a language in that language, such as 中文.

    >>> language_name("en"), language_name("zh")
    ('English', '中文')
    """
    from babel import Locale

    return str(Locale.parse(code).get_display_name())


def active_language() -> str:
    """Return the code of the language for messages in this thread.

    It is the language of ``use_language``, or else the visitor's, or else English.
    """
    chosen = _CHOSEN.get()
    if chosen is None and _FINDERS:
        chosen = _FINDERS[0]()
    return chosen if chosen in available_languages() else ENGLISH


def set_language_source(finder: Callable[[], str]) -> None:
    """Register a function that returns the language code of the visitor for whom the current thread works."""
    _FINDERS[:] = [finder]


@contextmanager
def use_language(code: str) -> Iterator[None]:
    """Inside the block, show the messages of the current thread in the language ``code``.

    >>> with use_language("en"):
    ...     active_language()
    'en'
    """
    token = _CHOSEN.set(code)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def translate(said: str) -> str:
    """Return a lazy message in the active language; return other strings, such as a user's text, unchanged.

    >>> translate(gettext_lazy("Layer {layer}", layer=3)), translate("whatever a reader typed")
    ('Layer 3', 'whatever a reader typed')
    """
    spoken = active_language()
    if spoken == ENGLISH or not said or not isinstance(said, LazyMessage):
        return str(said)
    known = catalogue(spoken)
    template = (
        known.gettext(said.template) if said.many is None else known.ngettext(said.template, said.many, said.number)
    )
    return fill_with_spacing(template, {name: _value(value) for name, value in said.values.items()})


def _(template: str, /, **values: Any) -> str:
    """Return a message in the active language, formatted with its values.

    >>> _("Layer {layer}", layer=3)
    'Layer 3'
    """
    return translate(gettext_lazy(template, **values))


def ngettext(one: str, many: str, number: int, /, **values: Any) -> str:
    """Return a message in the active language, in the plural form for ``number``.

    >>> ngettext("{n} head", "{n} heads", 12, n=12)
    '12 heads'
    """
    return translate(ngettext_lazy(one, many, number, **values))


def _value(value: Any) -> Any:
    """Translate a value if it is a lazy message; return other values unchanged."""
    return translate(value) if isinstance(value, LazyMessage) else value
