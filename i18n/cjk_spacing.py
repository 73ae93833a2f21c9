"""Where a value meets its sentence: the space that a translation sets beside it, if these two letters take one.

Chinese sets a space between a Chinese word and a Latin one, and none between two Chinese words or beside a full-width
mark. Which of them a value begins and ends with is known only when the sentence is told.
"""

from __future__ import annotations

import re
from functools import cache
from string import Formatter
from typing import Any

WIDE = "，。、；：！？（）《》「」『』【】…"  # marks that bring their own space
QUOTES = "“”‘’"
_CHINESE = re.compile("[\u2e80-\u2fff\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_FORMATTER = Formatter()


def fill_with_spacing(template: str, values: dict[str, Any]) -> str:
    """The template with its values. Only spaces of the template go, and only those at its ends beside a value.

    >>> pairs = ("猫", "狗"), ("BERT", "狗"), ("“it”", "“cat”")
    >>> [fill_with_spacing("{a} 和 {b}", {"a": a, "b": b}) for a, b in pairs]
    ['猫和狗', 'BERT 和狗', '“it”和“cat”']
    >>> fill_with_spacing("{first} {then}", {"first": "它看。", "then": "BERT 说。"})
    '它看。BERT 说。'
    """
    if not any(isinstance(value, str) for value in values.values()):
        return template.format(**values) if values else template  # numbers keep theirs
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
    """What stands there with what comes next, if anything comes."""
    return (
        whole + ("" if whole and space == " " and not needs_space(whole[-1], then[0]) else space) + then
        if then
        else whole
    )


def needs_space(left: str, right: str) -> bool:
    """Whether a space stands between these two letters.

    >>> [needs_space(*two) for two in ("层是", "层3", "”最", "””", "。B", "a（", "ab")]
    [False, True, False, True, False, False, True]
    """
    if left in WIDE or right in WIDE:
        return False
    chinese = [_CHINESE.match(letter) is not None for letter in (left, right)]
    return not (
        any(chinese) and all(one or letter in QUOTES for one, letter in zip(chinese, (left, right), strict=True))
    )
