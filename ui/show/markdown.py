"""A text that somebody typed, where Streamlit reads Markdown."""

from __future__ import annotations

import re

MARKUP = re.compile(r"([!-/:-@\[-`{-~])")  # every sign that Markdown may give a meaning


def escape_markdown(text: str) -> str:
    r"""The text as Markdown that shows it sign by sign, in one paragraph.

    >>> escape_markdown("*a* <b> [x](y)")
    '\\*a\\* \\<b\\> \\[x\\]\\(y\\)'
    """
    return MARKUP.sub(r"\\\1", " ".join(text.split()))
