"""Bundling of a component's JavaScript modules to a single script, and escaping of scripts in HTML.

Streamlit accepts a single script. Imports must be plain names from a module in the same folder or in a sibling folder.
Two modules must not have equal top-level names, because browsers reject a script that declares a name twice.
"""

from __future__ import annotations

import json
import posixpath
import re
from functools import cache
from pathlib import Path
from typing import Any

from i18n import ENGLISH, _, active_language

HERE = Path(__file__).parent
IMPORT = re.compile(r'^(?:import|export) [^;"]* from "(\.\.?/[a-z_/]+)\.js";\n', re.MULTILINE)
SENTENCE = re.compile(r'(?<![\w.])(?:_|sentence)\(\s*("(?:[^"\\]|\\.)*"(?:\s*\+\s*"(?:[^"\\]|\\.)*")*)')
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# Comments on separate lines, including JSDoc types, which browsers do not need.
COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*\*(?:(?!\*/).)*\*/[ \t]*)\n", re.MULTILINE | re.DOTALL)


def script(name: str) -> str:
    """Return ``viz/components/<name>.js`` and the modules it imports as a single module, without comments.

    >>> script("shared/frames").lstrip().startswith("export function float16(bits) {")
    True
    """
    found: dict[str, str] = {}
    _gather(name, found)
    return "\n".join(found.values())


@cache
def sentences(name: str) -> tuple[str, ...]:
    """Return all messages in the script ``name``: the strings in its calls of `_` and `sentence`.

    >>> sentences("shared/frames")
    ()
    """
    said = SENTENCE.findall(script(name))
    return tuple(dict.fromkeys("".join(map(json.loads, STRING.findall(text))) for text in said))


def translated_words(name: str) -> dict[str, str]:
    """Return the script's messages with their translations into the active language; {} for English.

    They are sent in the component's data, for `speak` of `shared/words.js`.
    """
    if active_language() == ENGLISH:
        return {}
    return {sentence: _(sentence) for sentence in sentences(name)}


def words_field(name: str) -> dict[str, dict[str, str]]:
    """Return {"words": messages} with the script's translated messages, as a field of its data; {} for English."""
    said = translated_words(name)
    return {"words": said} if said else {}


def own_source(name: str) -> str:
    """Return ``viz/components/<name>.js`` without its comments and imports.

    If the script has imports, append the result to a bundled script that defines the imported names.

    >>> '"./chips.js";' in own_source("token_strip/token_strip")
    False
    """
    return COMMENT.sub("", IMPORT.sub("", (HERE / f"{name}.js").read_text(encoding="utf-8")))


def stylesheet(*names: str) -> str:
    """Return the style sheets ``viz/components/<name>.css``, concatenated."""
    return "\n".join((HERE / f"{name}.css").read_text(encoding="utf-8") for name in names)


def _gather(name: str, found: dict[str, str]) -> None:
    if name in found:
        return
    source = (HERE / f"{name}.js").read_text(encoding="utf-8")
    for imported in dict.fromkeys(IMPORT.findall(source)):
        _gather(posixpath.normpath(posixpath.join(posixpath.dirname(name), imported)), found)
    found[name] = own_source(name)


def escape_json(data: Any) -> str:
    """Return ``data`` as JSON that is safe inside a script element: ASCII, with "<", ">" and "&" escaped.

    >>> escape_json("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def inline(script: str) -> str:
    """Return JavaScript that is safe inside a script element, with "</" and "<!--" escaped.

    Only strings, templates, regular expressions and comments may contain them, because there the escape means "<".

    >>> inline("a('</script>')")
    "a('\\\\x3c/script>')"
    """
    return script.replace("</", "\\x3c/").replace("<!--", "\\x3c!--")
