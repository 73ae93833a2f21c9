"""Options of a single page: a frozen dataclass that is stored in the address, next to the shared choice.

A page defines its options as a frozen dataclass with defaults. Class attributes describe the fields: CHOICES lists
the allowed values, OF_TEXT maps fields that depend on the text to a function of the value to keep for another text
or model, and KEYS maps fields to other names in the address.

>>> from dataclasses import make_dataclass
>>> Waves = make_dataclass("Waves", [("show", "str", "map"), ("dimension", "int", 0)], frozen=True)
>>> parse_params(Waves, {"show": "curves", "dimension": "7"})
(Waves(show='curves', dimension=7), [])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, TypeVar

from i18n import error_message
from ui.run.notices import show_notes
from ui.state.session import notes, of_older_text, own_query, write_own
from ui.state.view_state import read_value, write_value

Options = TypeVar("Options")


@dataclass(frozen=True)
class AnsweringOptions:
    """The options of a page on which another model may answer if the chosen model lacks the task head."""

    KEYS: ClassVar[Mapping[str, str]] = {"answering_model": "speaker"}  # Existing links use this name.

    answering_model: str = ""  # Used if the chosen model lacks the task head; "" for the first model that has it.


def get_params(kind: type[Options]) -> Options:
    """Return this page's options from the address, and show notices for parts that are invalid."""
    _forget_places(kind)
    found, problems = parse_params(kind, own_query())
    notes().extend(problem for problem in problems if problem not in notes())
    show_notes()
    return found


def widget_key(kind: type[Any], name: str) -> str:
    """Return the key of the widget for a field of a page's options.

    >>> widget_key(AnsweringOptions, "answers")
    'answering_answers'
    """
    return f"{kind.__name__.removesuffix('Options').lower()}_{name}"


def set_params(kind: type[Options], **changes: Any) -> None:
    """Change some of this page's options, and update the address."""
    _forget_places(kind, "answering_model" in changes)
    write_own(format_params(replace(parse_params(kind, own_query())[0], **changes)))  # type: ignore[type-var]


def drop_place(_raw: str) -> str:
    """Return "", which drops a field of a text that is no longer read."""
    return ""


def _forget_places(kind: type[Any], another: bool = False) -> None:
    """Drop the options that depend on a previous text or model.

    ``another`` is True if the answering model changed.
    """
    if of_older_text() or another:
        query, stays = own_query(), getattr(kind, "OF_TEXT", {})
        kept = {name: stays[name](raw) if name in stays else raw for name, raw in query.items()}
        rest = {name: raw for name, raw in kept.items() if raw or name not in stays}
        if rest != query:
            write_own(rest)


def parse_params(kind: type[Options], query: Mapping[str, str]) -> tuple[Options, list[str]]:
    """Return the options in an address, and a sentence for each part that could not be read."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for field in fields(kind):  # type: ignore[arg-type]
        key = _key(kind, field.name)
        if key not in query:
            continue
        try:
            choices = getattr(kind, "CHOICES", {}).get(field.name)
            values[field.name] = read_value(key, _kind(field.type), query[key], choices)
        except ValueError as error:
            problems.append(error_message(error))
    return kind(**values), problems


def format_params(options: Any) -> dict[str, str]:
    """Return the options as fields of an address, without the defaults."""
    changed = {f.name: getattr(options, f.name) for f in fields(options) if getattr(options, f.name) != f.default}
    return {_key(type(options), name): write_value(value) for name, value in changed.items() if value is not None}


def _key(kind: type[Any], name: str) -> str:
    """Return the name of a field in the address."""
    key: str = getattr(kind, "KEYS", {}).get(name, name)
    return key


def _kind(stated: Any) -> str:
    """Return the name of a field's type; the annotation may be a string or a class."""
    return str(getattr(stated, "__name__", stated))
