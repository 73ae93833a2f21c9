"""Lazy messages: strings that keep their template and values, so that they can be translated later."""

from __future__ import annotations

from typing import Any


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
    """Format a template with its values; without values, return it unchanged, including braces.

    >>> fill_template("{share:.0%} of {{all}}", {"share": 0.5}), fill_template("a {brace}", {})
    ('50% of {all}', 'a {brace}')
    """
    return template.format(**values) if values else template


def gettext_lazy(template: str, /, **values: Any) -> LazyMessage:
    """Return a message that is translated later, such as a constant of a module.

    >>> gettext_lazy("The text has {tokens:,} tokens.", tokens=1200)
    'The text has 1,200 tokens.'
    """
    return LazyMessage(template, None, 1, values)


def ngettext_lazy(one: str, many: str, number: int, /, **values: Any) -> LazyMessage:
    """Return a lazy message in singular if ``number`` is 1, else in plural.

    Translations have their own plural rules.

    >>> ngettext_lazy("{n} token", "{n} tokens", 1, n=1), ngettext_lazy("{n} token", "{n} tokens", 5, n=5)
    ('1 token', '5 tokens')
    """
    return LazyMessage(one, many, number, values)
