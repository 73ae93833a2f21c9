"""Declarations of options as dataclass fields: default, label, help, choices and name in the address.

The address, the widget and the JavaScript of the microscope read an option from here.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class WaveOptions:
...     show: str = option("map", label="View", choices={"map": "Map", "curves": "Curves"}, name="view")
...     size: int = 8
>>> WaveOptions().show, options_of(WaveOptions)["show"].name, options_of(WaveOptions)["size"].name
('map', 'view', 'size')
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, TypeVar, cast

Value = TypeVar("Value")
DECLARATION = "option"  # Key of the declaration in a field's metadata.


@dataclass(frozen=True)
class Option:
    """The declaration of a page's or the microscope's option: type, default, choices and texts.

    ``kind`` is the name of the type: str, int, bool or int | None. Labels may be lazy messages.
    """

    default: Any
    name: str = ""  # The name in an address.
    kind: str = ""
    label: str = ""
    help: str = ""
    choices: Mapping[Any, str] = field(default_factory=dict)  # Label of each value that a menu offers.
    of_text: Callable[[str], str] | None = None  # See ``option``.

    @property
    def allowed_values(self) -> tuple[Any, ...] | None:
        """Return the values that an address may contain: the choices and the default; None for any value.

        >>> Option("", choices={"a": "A"}).allowed_values, Option("").allowed_values
        (('', 'a'), None)
        """
        if not self.choices:
            return None
        return tuple(self.choices) if self.default in self.choices else (self.default, *self.choices)

    def label_of(self, value: Any) -> str:
        """Return the label of a choice; for any other value, return the value itself."""
        return self.choices.get(value, str(value))


def option(  # noqa: PLR0913  (the parts of a declaration, by name)
    default: Value,
    *,
    label: str = "",
    help: str = "",
    choices: Mapping[Any, str] | Iterable[Any] = (),
    name: str = "",
    of_text: Callable[[str], str] | None = None,
) -> Value:
    """Return a dataclass field that declares an option.

    ``choices`` maps the values that a menu offers to their labels; a sequence is labelled by its values. Without
    choices every value of the type is allowed. ``name`` is the name in the address, by default that of the field. If
    the option depends on the text, ``of_text`` is called when the text or model changes: it maps the old value in the
    address to the new value, or to "" for the default.
    """
    labels = choices if isinstance(choices, Mapping) else {value: str(value) for value in choices}
    declared = Option(default, name, label=label, help=help, choices=labels, of_text=of_text)
    made: Value = field(default=default, metadata={DECLARATION: declared})
    return made


def options_of(kind: type[Any]) -> Mapping[str, Option]:
    """Return the declaration of each field of a dataclass, by name, with defaults for undeclared fields."""
    return _options_of(cast(Hashable, kind))


@cache
def _options_of(kind: Any) -> Mapping[str, Option]:
    found = {}
    for one in fields(kind):
        declared = one.metadata.get(DECLARATION, Option(one.default))
        stated = str(getattr(one.type, "__name__", one.type))  # An annotation may be a string or a class.
        found[one.name] = replace(declared, name=declared.name or one.name, kind=stated)
    return found
