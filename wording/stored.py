"""A sentence in a file of JSON: its English for whoever opens the file, and what it is made of beside it."""

from __future__ import annotations

from typing import Any

from wording.sentences import Sentence

PLAIN = (str, int, float, bool, type(None))


def said_by(error: BaseException) -> str:
    """What an exception says: the sentence that it was raised with, where it is one.

    >>> said_by(ValueError(Sentence("No {n}.", values={"n": 3}))).template, said_by(ValueError(3))
    ('No {n}.', '3')
    """
    first = error.args[0] if error.args else None
    return first if isinstance(first, Sentence) else str(error)


def parts(said: str) -> dict[str, Any] | None:
    """What a sentence is made of, as JSON has it; None of a text that is no sentence.

    >>> parts(Sentence("No {n}.", values={"n": 3}))
    {'template': 'No {n}.', 'many': None, 'number': 1, 'values': {'n': 3}}
    """
    if not isinstance(said, Sentence):
        return None
    values = {name: _stored(value) for name, value in said.values.items()}
    return {"template": said.template, "many": said.many, "number": said.number, "values": values}


def whole(said: str, made_of: Any) -> str:
    """The sentence again; the text itself where it is not made of that.

    >>> whole("No 3.", parts(Sentence("No {n}.", values={"n": 3}))).values
    {'n': 3}
    >>> type(whole("No 3.", {"template": "Yes {n}.", "values": {"n": 3}})).__name__
    'str'
    """
    try:
        values = {str(name): _again(value) for name, value in made_of["values"].items()}
        again = Sentence(made_of["template"], made_of.get("many"), made_of.get("number", 1), values)
    except (TypeError, ValueError, LookupError, AttributeError):
        return said
    return again if again == said else said


def _stored(value: Any) -> Any:
    if isinstance(value, Sentence):
        return {"said": str(value), "of": parts(value)}
    return value if isinstance(value, PLAIN) else value.item() if hasattr(value, "item") else str(value)


def _again(value: Any) -> Any:
    return whole(value["said"], value["of"]) if isinstance(value, dict) else value
