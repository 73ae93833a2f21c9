"""A component's script together with the modules it imports: Streamlit takes one script, and knows no module beside it.

Knows only imports of plain names from a module beside it or in a folder beside its own, and that two modules which are
imported together do not name two things alike; a browser would refuse such a script at once.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

HERE = Path(__file__).parent
IMPORT = re.compile(r'^(?:import|export) [^;"]* from "(\.\.?/[a-z_/]+)\.js";\n', re.MULTILINE)


def script(name: str) -> str:
    """``viz/components/<name>.js`` as one module, after everything that it imports, each once.

    >>> script("shared/frames").startswith("// Arrays as they travel")
    True
    """
    found: dict[str, str] = {}
    _gather(name, found)
    return "\n".join(found.values())


def own(name: str) -> str:
    """``viz/components/<name>.js`` without what it imports, to be written after a script that holds it.

    >>> '"./chips.js";' in own("strip/strip")
    False
    """
    return IMPORT.sub("", (HERE / f"{name}.js").read_text(encoding="utf-8"))


def stylesheet(*names: str) -> str:
    """``viz/components/<name>.css`` one after the other."""
    return "\n".join((HERE / f"{name}.css").read_text(encoding="utf-8") for name in names)


def _gather(name: str, found: dict[str, str]) -> None:
    if name in found:
        return
    source = (HERE / f"{name}.js").read_text(encoding="utf-8")
    for imported in dict.fromkeys(IMPORT.findall(source)):
        _gather(posixpath.normpath(posixpath.join(posixpath.dirname(name), imported)), found)
    found[name] = IMPORT.sub("", source)
