"""Escaping of data and scripts inside an HTML document, so that nothing in them ends their element."""

from __future__ import annotations

import json
from typing import Any


def escape_json(data: Any) -> str:
    """Return ``data`` as JSON for the inside of a script element: ASCII, with "<", ">" and "&" escaped.

    >>> escape_json("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def inline(script: str) -> str:
    """Return JavaScript for the inside of a script element, with "</" and "<!--" escaped.

    The script may contain "</" and "<!--" only in strings, templates, regular expressions and comments; there
    "\\x3c" means "<".

    >>> inline("a('</script>')")
    "a('\\\\x3c/script>')"
    """
    return script.replace("</", "\\x3c/").replace("<!--", "\\x3c!--")
