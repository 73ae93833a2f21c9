"""Annotated texts that differ, for corpora of which a test gives only the counts."""

from __future__ import annotations

from attention.annotations import AnnotatedText


def different_texts(count: int) -> tuple[AnnotatedText, ...]:
    """Return different texts without links.

    >>> [item.text for item in different_texts(2)]
    ['0', '1']
    """
    return tuple(AnnotatedText(str(at), (), ()) for at in range(count))
