"""Lazy messages: strings that remember their template and values, so that they can be translated later."""

from __future__ import annotations

from numbers import Real
from string import Formatter
from typing import Any

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def typeset_number(number: str) -> str:
    """Return a formatted number as it is printed: with a minus sign, and with a power of ten instead of an exponent.

    Files that programs read keep the plain form.

    >>> typeset_number("-0.25"), typeset_number("2.7e-05"), typeset_number("-1e+06%"), typeset_number("1,024")
    ('−0.25', '2.7 × 10⁻⁵', '−1 × 10⁶%', '1,024')
    """
    digits, exponent, power = number.partition("e")
    digits = digits.replace("-", "−")
    if not (exponent and power[:1] in "+-" and power[1:].rstrip("%").isdigit()):
        return digits + exponent + power
    size = power.rstrip("%")
    return f"{digits} × 10{superscript(int(size))}{power[len(size) :]}"


def superscript(number: int) -> str:
    """Return an integer in superscript digits.

    >>> superscript(-17)
    '⁻¹⁷'
    """
    return str(number).translate(SUPERSCRIPTS)


class MessageFormatter(Formatter):
    """A formatter like str.format that typesets numbers."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a formatted value of a message."""
        text = str(super().format_field(value, format_spec))
        return typeset_number(text) if isinstance(value, Real) and not isinstance(value, bool) else text


FORMATTER = MessageFormatter()


class LazyMessage(str):
    """An English message with the template and the values from which it was formatted.

    It is a str and can be used as an ordinary string. It can be stored, pickled and passed to another thread;
    `i18n.translate` translates it for display.

    >>> LazyMessage("Layer {layer} has {heads} heads.", values={"layer": 3, "heads": 12})
    'Layer 3 has 12 heads.'
    """

    __slots__ = ("many", "number", "template", "values")

    template: str
    many: str | None
    number: int
    values: dict[str, Any]

    def __new__(
        cls,
        template: str,
        /,
        many: str | None = None,
        number: int = 1,
        values: dict[str, Any] | None = None,
        **more: Any,
    ) -> LazyMessage:
        values = {**(values or {}), **more}
        made = super().__new__(cls, fill_template(template if many is None or number == 1 else many, values))
        made.template, made.many, made.number, made.values = template, many, int(number), values
        return made

    def __reduce__(self) -> tuple[type[LazyMessage], tuple[Any, ...]]:
        return (LazyMessage, (self.template, self.many, self.number, self.values))


def fill_template(template: str, values: dict[str, Any]) -> str:
    """Insert values into a template like str.format; without values, return the template as it is, with its braces.

    >>> fill_template("{share:.0%} of {{all}}", {"share": 0.5}), fill_template("a {brace}", {})
    ('50% of {all}', 'a {brace}')
    >>> fill_template("{change:+.2f} with {p:.1e}", {"change": -0.5, "p": 2.7e-5})
    '−0.50 with 2.7 × 10⁻⁵'
    """
    return FORMATTER.vformat(template, (), values) if values else template


def gettext_lazy(template: str, /, **values: Any) -> LazyMessage:
    """Return a lazy message: the English text of a template, with the data to translate it later.

    ``values`` are inserted into the template by str.format.

    >>> gettext_lazy("The text has {tokens:,} tokens.", tokens=1200)
    'The text has 1,200 tokens.'
    """
    return LazyMessage(template, None, 1, values)


def ngettext_lazy(one: str, many: str, number: int, /, **values: Any) -> LazyMessage:
    """Return a lazy message, ``one`` if ``number`` is 1 and otherwise ``many``.

    Translations choose the form by the plural rules of their language.

    >>> ngettext_lazy("{n} token", "{n} tokens", 1, n=1), ngettext_lazy("{n} token", "{n} tokens", 5, n=5)
    ('1 token', '5 tokens')
    """
    return LazyMessage(one, many, number, values)


PLAIN = (str, int, float, bool, type(None))


def error_message(error: BaseException) -> str:
    """Return the message of an exception, which is a lazy message if the exception was raised with one.

    >>> error_message(ValueError(LazyMessage("No {n}.", values={"n": 3}))).template, error_message(ValueError(3))
    ('No {n}.', '3')
    """
    first = error.args[0] if error.args else None
    return first if isinstance(first, LazyMessage) else str(error)


def message_parts(said: str) -> dict[str, Any] | None:
    """Return the template and values of a lazy message as JSON values, or None for an ordinary string.

    ``restore_message`` reads the result.

    >>> message_parts(LazyMessage("No {n}.", values={"n": 3}))
    {'template': 'No {n}.', 'many': None, 'number': 1, 'values': {'n': 3}}
    """
    if not isinstance(said, LazyMessage):
        return None
    values = {name: _to_json(value) for name, value in said.values.items()}
    return {"template": said.template, "many": said.many, "number": said.number, "values": values}


def restore_message(said: str, made_of: Any) -> str:
    """Return the lazy message with the text ``said`` from the result ``made_of`` of ``message_parts``.

    Return ``said`` itself if the parts are malformed or give another text.

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
