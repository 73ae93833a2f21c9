"""Spacing between Chinese and Latin text if values are inserted into a translated template.

Chinese sets a space between a Chinese word and a Latin word, but none between two Chinese words or next to a
full-width mark. The spaces of a template therefore depend on the first and last characters of the values.
"""

from __future__ import annotations

import re
from functools import cache
from string import Formatter
from typing import Any

WIDE = "，。、；：！？（）《》「」『』【】…"  # full-width marks, which include their own space
QUOTES = "“”‘’"
_CHINESE = re.compile("[\u2e80-\u2fff\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_FORMATTER = Formatter()


def fill_with_spacing(template: str, values: dict[str, Any]) -> str:
    """Insert values into a template, and remove its spaces around values if Chinese needs none there.

    Only single spaces at the edges of a value are removed, and only if at least one value is a string.

    >>> pairs = ("猫", "狗"), ("BERT", "狗"), ("“it”", "“cat”")
    >>> [fill_with_spacing("{a} 和 {b}", {"a": a, "b": b}) for a, b in pairs]
    ['猫和狗', 'BERT 和狗', '“it”和“cat”']
    >>> fill_with_spacing("{first} {then}", {"first": "它看。", "then": "BERT 说。"})
    '它看。BERT 说。'
    """
    if not any(isinstance(value, str) for value in values.values()):
        return template.format(**values) if values else template  # spaces around numbers stay
    whole, due = "", ""
    for text, name, spec, conversion in _parse_template(template):
        bare = text.strip(" ")
        before = text[: len(text) - len(text.lstrip(" "))]
        whole, due = _append(whole, due + before, bare), (text[len(before) + len(bare) :] if bare else due + before)
        if name is not None:
            value, _used = _FORMATTER.get_field(name, (), values)
            given = _FORMATTER.format_field(_FORMATTER.convert_field(value, conversion), spec)
            whole, due = _append(whole, due, given), "" if given else due
    return whole + due


@cache
def _parse_template(template: str) -> tuple[tuple[str, str | None, str, str | None], ...]:
    return tuple((text, name, spec or "", conversion) for text, name, spec, conversion in _FORMATTER.parse(template))


def _append(whole: str, space: str, then: str) -> str:
    """Append ``space`` and ``then`` to ``whole``, without a space that is not needed.

    Return ``whole`` if ``then`` is empty.
    """
    return (
        whole + ("" if whole and space == " " and not needs_space(whole[-1], then[0]) else space) + then
        if then
        else whole
    )


def needs_space(left: str, right: str) -> bool:
    """Return True if a space is needed between two adjacent characters.

    >>> [needs_space(*two) for two in ("层是", "层3", "”最", "””", "。B", "a（", "ab")]
    [False, True, False, True, False, False, True]
    """
    if left in WIDE or right in WIDE:
        return False
    chinese = [_CHINESE.match(letter) is not None for letter in (left, right)]
    return not (
        any(chinese) and all(one or letter in QUOTES for one, letter in zip(chinese, (left, right), strict=True))
    )
