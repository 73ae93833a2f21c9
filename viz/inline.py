"""Data and scripts written into a document, so that nothing in them can end the element they stand in."""

from __future__ import annotations

import json
from typing import Any


def escape_json(data: Any) -> str:
    """``data`` as JSON for the inside of a script element: ASCII, with "<", ">" and "&" escaped.

    >>> escape_json("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def inline(script: str) -> str:
    """JavaScript for the inside of a script element.

    "</" and "<!--" can stand in strings, templates, regular expressions and comments only; there "\\x3c" means "<".

    >>> inline("a('</script>')")
    "a('\\\\x3c/script>')"
    """
    return script.replace("</", "\\x3c/").replace("<!--", "\\x3c!--")
