"""Options of a single page: a frozen dataclass, stored in the address next to the shared view state.

A page defines its options as a frozen dataclass with defaults. With ``option`` (viz/options.py), a field declares its
label, help, choices and name in the address. It can also declare how its value changes with the text.

>>> from dataclasses import make_dataclass
>>> Waves = make_dataclass("Waves", [("show", "str", "map"), ("dimension", "int", 0)], frozen=True)
>>> parse_params(Waves, {"show": "curves", "dimension": "7"})
(Waves(show='curves', dimension=7), [])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from i18n import error_message, gettext_lazy
from ui.run.notices import show_notes
from ui.state.session import notes, of_older_text, own_query, write_own
from ui.state.view_state import read_value, write_value
from viz.options import option, options_of

Options = TypeVar("Options")


@dataclass(frozen=True)
class AnsweringOptions:
    """An option of pages that need a task head: the model to use if the selected model lacks the head."""

    # Used if the chosen model lacks the task head; "" for the first model that has it. Existing links say "speaker".
    answering_model: str = option(
        "",
        label=gettext_lazy("Answered by"),
        help=gettext_lazy("Models on this machine with this task head. Choose others above."),
        name="speaker",
    )


def get_params(kind: type[Options]) -> Options:
    """Return this page's options from the address; show a notice for each invalid option."""
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
    """Return "" for any value, so that an option that refers to tokens is reset if the text changes."""
    return ""


def _forget_places(kind: type[Any], another: bool = False) -> None:
    """Drop the options that depend on a previous text or model.

    ``another`` is True if the answering model changed.
    """
    if of_older_text() or another:
        query = own_query()
        stays = {one.name: one.of_text for one in options_of(kind).values() if one.of_text is not None}
        kept = {name: stays[name](raw) if name in stays else raw for name, raw in query.items()}
        rest = {name: raw for name, raw in kept.items() if raw or name not in stays}
        if rest != query:
            write_own(rest)


def parse_params(kind: type[Options], query: Mapping[str, str]) -> tuple[Options, list[str]]:
    """Return the options in an address's query, and a sentence for each field that could not be read."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for name, declared in options_of(kind).items():
        if declared.name not in query:
            continue
        try:
            values[name] = read_value(declared, query[declared.name])
        except ValueError as error:
            problems.append(error_message(error))
    return kind(**values), problems


def format_params(options: Any) -> dict[str, str]:
    """Return a page's options as query fields; options that have their default are left out."""
    values = {one.name: (getattr(options, name), one.default) for name, one in options_of(type(options)).items()}
    return {name: write_value(value) for name, (value, usual) in values.items() if value not in (usual, None)}
