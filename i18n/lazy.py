"""A sentence that knows what it is made of, so that it can be told in another language later, and somewhere else."""

from __future__ import annotations

from typing import Any


class LazyMessage(str):
    """An English sentence, and the template and the values that it was made from.

    It is a str, so that whoever knows nothing of languages uses it as one. It can be kept, pickled and handed to
    another thread: it is translated where it is shown (`i18n.translate`).

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
    """The template with its values; one without values is meant letter by letter, braces too.

    >>> fill_template("{share:.0%} of {{all}}", {"share": 0.5}), fill_template("a {brace}", {})
    ('50% of {all}', 'a {brace}')
    """
    return template.format(**values) if values else template


def gettext_lazy(template: str, /, **values: Any) -> LazyMessage:
    """A sentence to be told later, or a constant of a module.

    >>> gettext_lazy("The text has {tokens:,} tokens.", tokens=1200)
    'The text has 1,200 tokens.'
    """
    return LazyMessage(template, None, 1, values)


def ngettext_lazy(one: str, many: str, number: int, /, **values: Any) -> LazyMessage:
    """The same of a number of things: ``one`` where ``number`` is 1, else ``many``; in other languages by their rule.

    >>> ngettext_lazy("{n} token", "{n} tokens", 1, n=1), ngettext_lazy("{n} token", "{n} tokens", 5, n=5)
    ('1 token', '5 tokens')
    """
    return LazyMessage(one, many, number, values)
