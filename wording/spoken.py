"""The language that is spoken here and now, and how a sentence is told in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from wording.catalogues import catalogue, found
from wording.seams import filled
from wording.sentences import Sentence, sentence, sentences

ENGLISH = "en"
_CHOSEN: ContextVar[str | None] = ContextVar("language", default=None)
_FINDERS: list[Callable[[], str]] = []


def languages() -> tuple[str, ...]:
    """Every language that the app speaks, English first, each by its code.

    >>> languages()[0]
    'en'
    """
    return (ENGLISH, *found())


def language() -> str:
    """The language to be spoken here: of `speaking`, else of whoever is served, else English."""
    chosen = _CHOSEN.get()
    if chosen is None and _FINDERS:
        chosen = _FINDERS[0]()
    return chosen if chosen in languages() else ENGLISH


def pick_language_by(finder: Callable[[], str]) -> None:
    """From now on ask this where nothing else is said: it tells the language of who is served in this thread."""
    _FINDERS[:] = [finder]


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Within it, this language is spoken in this thread.

    >>> with speaking("en"):
    ...     language()
    'en'
    """
    token = _CHOSEN.set(code)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def told(said: str) -> str:
    """A sentence in the language that is spoken here; any other text, which somebody may have typed, as it is.

    >>> told(sentence("Layer {layer}", layer=3)), told("whatever a reader typed")
    ('Layer 3', 'whatever a reader typed')
    """
    spoken = language()
    if spoken == ENGLISH or not said or not isinstance(said, Sentence):
        return str(said)
    known = catalogue(spoken)
    template = (
        known.gettext(said.template) if said.many is None else known.ngettext(said.template, said.many, said.number)
    )
    return filled(template, {name: _value(value) for name, value in said.values.items()})


def _(template: str, /, **values: Any) -> str:
    """This sentence in the language that is spoken here, with its values.

    >>> _("Layer {layer}", layer=3)
    'Layer 3'
    """
    return told(sentence(template, **values))


def ngettext(one: str, many: str, number: int, /, **values: Any) -> str:
    """The same of a number of things.

    >>> ngettext("{n} head", "{n} heads", 12, n=12)
    '12 heads'
    """
    return told(sentences(one, many, number, **values))


def _value(value: Any) -> Any:
    """A value of a sentence may be a sentence itself; a text that is none stays as it is."""
    return told(value) if isinstance(value, Sentence) else value
