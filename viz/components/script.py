"""A component's script together with the modules it imports: Streamlit takes one script, and knows no module beside it.

Knows only imports of plain names from a module beside it or in a folder beside its own, and that two modules which are
imported together do not name two things alike; a browser would refuse such a script at once.
"""

from __future__ import annotations

import json
import posixpath
import re
from functools import cache
from pathlib import Path

from i18n import ENGLISH, _, active_language

HERE = Path(__file__).parent
IMPORT = re.compile(r'^(?:import|export) [^;"]* from "(\.\.?/[a-z_/]+)\.js";\n', re.MULTILINE)
SENTENCE = re.compile(r'(?<![\w.])(?:_|sentence)\(\s*("(?:[^"\\]|\\.)*"(?:\s*\+\s*"(?:[^"\\]|\\.)*")*)')
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# Comments on lines of their own, types among them: for readers of the repository, not for browsers.
COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*\*(?:(?!\*/).)*\*/[ \t]*)\n", re.MULTILINE | re.DOTALL)


def script(name: str) -> str:
    """``viz/components/<name>.js`` as one module, after everything that it imports, each once, without comments.

    >>> script("shared/frames").lstrip().startswith("export function float16(bits) {")
    True
    """
    found: dict[str, str] = {}
    _gather(name, found)
    return "\n".join(found.values())


@cache
def sentences(name: str) -> tuple[str, ...]:
    """Every sentence that the script of that name says, as `shared/translated_words.js` is asked for it.

    >>> sentences("shared/frames")
    ()
    """
    said = SENTENCE.findall(script(name))
    return tuple(dict.fromkeys("".join(map(json.loads, STRING.findall(text))) for text in said))


def translated_words(name: str) -> dict[str, str]:
    """What the script of that name says, in the language that is spoken here; nothing where that is English.

    It goes to the browser with the component's data, for `speak` of `shared/translated_words.js`.
    """
    if active_language() == ENGLISH:
        return {}
    return {sentence: _(sentence) for sentence in sentences(name)}


def words_field(name: str) -> dict[str, dict[str, str]]:
    """The field ``translated_words`` of a component's data: what its script says; no field where that is English."""
    said = translated_words(name)
    return {"words": said} if said else {}


def own_source(name: str) -> str:
    """``viz/components/<name>.js`` without comments and what it imports, to be written after a script that holds that.

    >>> '"./chips.js";' in own_source("token_strip/token_strip")
    False
    """
    return COMMENT.sub("", IMPORT.sub("", (HERE / f"{name}.js").read_text(encoding="utf-8")))


def stylesheet(*names: str) -> str:
    """``viz/components/<name>.css`` one after the other."""
    return "\n".join((HERE / f"{name}.css").read_text(encoding="utf-8") for name in names)


def _gather(name: str, found: dict[str, str]) -> None:
    if name in found:
        return
    source = (HERE / f"{name}.js").read_text(encoding="utf-8")
    for imported in dict.fromkeys(IMPORT.findall(source)):
        _gather(posixpath.normpath(posixpath.join(posixpath.dirname(name), imported)), found)
    found[name] = own_source(name)
