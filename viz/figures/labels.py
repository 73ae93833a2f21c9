"""Tokens as labels of figures."""

from __future__ import annotations

import html


def escape_label(text: str) -> str:
    """A token as plotly shows it unread: plotly takes "<b>" and "&lt;" in labels for markup.

    >>> escape_label("<b>&")
    '&lt;b&gt;&amp;'
    """
    return html.escape(text, quote=False)


def truncate(text: str, most: int = 18) -> str:
    """A token short enough for a label; a longer one ends in "…".

    >>> truncate("antidisestablishmentarianism")
    'antidisestablishm…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"
