"""The JavaScript files of BertViz's views, read from installed packages without a network.

BertViz (Apache-2.0), d3 (BSD-3-Clause, in mpld3) and jQuery (MIT, in XStatic-jQuery) are read as files of their
distributions. None of the packages is imported, because BertViz imports torch and mpld3 imports matplotlib.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata
from pathlib import Path

BRIDGE = Path(__file__).with_name("bridge.js")
LIBRARIES = {"jquery.js": ("XStatic-jQuery", "jquery.min.js"), "d3.js": ("mpld3", "d3.v5.min.js")}
VIEWS = ("head_view.js", "model_view.js", "neuron_view.js")
SCRIPTS = (*LIBRARIES, BRIDGE.name, *VIEWS)

# Replacements in BertViz's scripts: (old code, new code, number of occurrences). They change the source of the data
# (BertViz's template marker also occurs in a comment, which would double the document), the factor of the dot product
# (not 1/√d in every model), the number from which the neuron view's boxes count, and the texts, which the document
# supplies in the user's language.
PARAMETERS = (("const params = PYTHON_PARAMS;", "const params = window.bertviz_params;", 1),)
PATCHES = {
    "head_view.js": PARAMETERS,
    "model_view.js": (
        *PARAMETERS,
        ('.text("Heads")', ".text(params['said']['Heads'])", 1),
        ('.text("Layers")', ".text(params['said']['Layers'])", 1),
        (
            "'Layer ' + config.layers[layerIndex] + \", Head \" + config.heads[headIndex]",
            "params['said']['Layer {layer}, Head {head}'].replace('{layer}', config.layers[layerIndex])"
            ".replace('{head}', config.heads[headIndex])",
            1,
        ),
    ),
    "neuron_view.js": (
        (".text('Query ')", ".text(params['said']['Query '])", 1),
        (".text('Key ')", ".text(params['said']['Key '])", 1),
        (".text('q \\u00D7 k (elementwise)')", ".text(params['said']['q × k (elementwise)'])", 1),
        ('.text("No token selected")', ".text(params['said']['No token selected'])", 1),
        ("dotProduct / Math.sqrt(config.vectorSize)", "dotProduct * attnData.scale[config.layer]", 1),
        (".val(i).text(i)", ".val(i).text(i + params['index_base'])", 2),
    ),
}
# BertViz configures require.js with addresses of d3 and jQuery; the bridge replaces require.js, so they are removed.
ADDRESSES = re.compile(r"require\.config\(\{.*?\}\);", re.DOTALL)
HOST = re.compile(r"[A-Za-z0-9.\-]+(:\d+)?|\[[0-9A-Fa-f:.]+\](:\d+)?")


@cache
def vendor(name: str) -> bytes:
    """Return the script ``name`` of SCRIPTS as UTF-8 JavaScript, with our patches (PATCHES) applied.

    Raises KeyError for an unknown name, and RuntimeError if the installed BertViz lacks the code to patch.

    >>> vendor("d3.js")[:29]
    b'// https://d3js.org v5.7.0 Co'
    """
    if name == BRIDGE.name:
        return BRIDGE.read_bytes()
    if name in LIBRARIES:
        return _read_installed(*LIBRARIES[name]).encode()
    if name not in VIEWS:
        raise KeyError(f'There is no script "{name}"; there are {", ".join(SCRIPTS)}.')
    script = _read_installed("bertviz", name)
    for before, after, times in PATCHES[name]:
        if script.count(before) != times:
            found = f'{script.count(before)} times "{before}" and not {times}'
            raise RuntimeError(f"BertViz {version()}'s {name} has {found}. Install the pinned version.")
        script = script.replace(before, after)
    return ADDRESSES.sub("", script).encode()


def version() -> str:
    """Return the version of the installed BertViz, which is written on each document."""
    return metadata.version("bertviz")


def policy(host: str, prefix: str) -> str:
    """Return the Content-Security-Policy of a document, which allows only the scripts from ``vendor``.

    ``host`` is the request's Host header, and ``prefix`` the path under which ``vendor`` is served. The policy names
    both, because the keyword 'self' matches nothing in a sandboxed document. It states no scheme, so the browser uses
    the scheme of the document. Raises ValueError if ``host`` is not a host name with an optional port.

    >>> policy("localhost:8501", "/headlight/vendor").split("; ")[2]
    'script-src localhost:8501/headlight/vendor/'
    """
    if not HOST.fullmatch(host):
        raise ValueError(f"The Host header is {host!r}; a host name with an optional port was expected.")
    return (
        f"sandbox allow-scripts; default-src 'none'; script-src {host}{prefix}/; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )


def _read_installed(distribution: str, name: str) -> str:
    files = metadata.files(distribution) or []
    return next(file for file in files if file.name == name).read_text(encoding="utf-8")
