"""The active language, and the translation of messages into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from i18n.catalogues import catalogue, catalogue_languages
from i18n.cjk_spacing import fill_with_spacing
from i18n.lazy import LazyMessage, gettext_lazy, ngettext_lazy

ENGLISH = "en"
_CHOSEN: ContextVar[str | None] = ContextVar("language", default=None)
_FINDERS: list[Callable[[], str]] = []


def available_languages() -> tuple[str, ...]:
    """Return the codes of all languages of the app, English first.

    >>> available_languages()[0]
    'en'
    """
    return (ENGLISH, *catalogue_languages())


def active_language() -> str:
    """Return the language of `use_language`, else of the current visitor, else English."""
    chosen = _CHOSEN.get()
    if chosen is None and _FINDERS:
        chosen = _FINDERS[0]()
    return chosen if chosen in available_languages() else ENGLISH


def set_language_source(finder: Callable[[], str]) -> None:
    """Set the function that returns the language of the current thread's visitor."""
    _FINDERS[:] = [finder]


@contextmanager
def use_language(code: str) -> Iterator[None]:
    """Select a language inside the block, for the current thread.

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
    """Return a lazy message in the active language; return other strings, such as user input, unchanged.

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
    """Return a message in singular or plural, in the active language.

    >>> ngettext("{n} head", "{n} heads", 12, n=12)
    '12 heads'
    """
    return translate(ngettext_lazy(one, many, number, **values))


def _value(value: Any) -> Any:
    """Translate a value if it is a lazy message; return other values unchanged."""
    return translate(value) if isinstance(value, LazyMessage) else value
