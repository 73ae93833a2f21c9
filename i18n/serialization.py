"""Lazy messages in JSON files: the English text, and the template and values for translation."""

from __future__ import annotations

from typing import Any

from i18n.lazy import LazyMessage

PLAIN = (str, int, float, bool, type(None))


def error_message(error: BaseException) -> str:
    """Return the message of an exception, as a lazy message if it was raised with a lazy message.

    >>> error_message(ValueError(LazyMessage("No {n}.", values={"n": 3}))).template, error_message(ValueError(3))
    ('No {n}.', '3')
    """
    first = error.args[0] if error.args else None
    return first if isinstance(first, LazyMessage) else str(error)


def message_parts(said: str) -> dict[str, Any] | None:
    """Return the template and the values of a lazy message as JSON values; return None for other strings.

    >>> message_parts(LazyMessage("No {n}.", values={"n": 3}))
    {'template': 'No {n}.', 'many': None, 'number': 1, 'values': {'n': 3}}
    """
    if not isinstance(said, LazyMessage):
        return None
    values = {name: _to_json(value) for name, value in said.values.items()}
    return {"template": said.template, "many": said.many, "number": said.number, "values": values}


def restore_message(said: str, made_of: Any) -> str:
    """Restore a lazy message from ``message_parts``.

    Return the given string if the parts are malformed or yield another text.

    >>> restore_message("No 3.", message_parts(LazyMessage("No {n}.", values={"n": 3}))).values
    {'n': 3}
    >>> type(restore_message("No 3.", {"template": "Yes {n}.", "values": {"n": 3}})).__name__
    'str'
    """
    try:
        values = {str(name): _from_json(value) for name, value in made_of["values"].items()}
        again = LazyMessage(made_of["template"], made_of.get("many"), made_of.get("number", 1), values)
    except (TypeError, ValueError, LookupError, AttributeError):
        return said
    return again if again == said else said


def _to_json(value: Any) -> Any:
    if isinstance(value, LazyMessage):
        return {"said": str(value), "of": message_parts(value)}
    return value if isinstance(value, PLAIN) else value.item() if hasattr(value, "item") else str(value)


def _from_json(value: Any) -> Any:
    return restore_message(value["said"], value["of"]) if isinstance(value, dict) else value
