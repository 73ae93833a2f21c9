"""Jupyter notebooks that compute the numbers of a figure again, and the texts that cite the figure."""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
import numpy.typing as npt

from attention.head_names import head_label
from attention.view import View, flow
from i18n import _
from viz.export import caption, check_cells, format_value

PACKAGE = "headlight-attention"
PROJECT = Path(__file__).parents[2] / "pyproject.toml"
QUOTED = 200  # most characters of a text that a methods sentence quotes in full
BEGINNING = 60  # characters that it quotes of a longer text
NAMED = 200  # most characters of the name of many texts in a methods sentence
TEXTS = {"text": "", "pair": "second text of the pair ", "target": "target ", "second_text": "second text "}
IDENTITY = {"revision": "revision", "weights_sha256": "weights SHA-256"}
# Fields of the provenance that are in another part of the methods sentences, or that no number depends on.
NO_SETTING = {*TEXTS, *IDENTITY, "model", "data", "layer", "figure", "first", "second", "architecture", "index_base",
              "removed", "pairs_sha256"}  # fmt: skip
YEAR = 2026  # of the version in pyproject.toml
CLOSE = 1e-3  # largest difference from the figure's numbers, relative to their largest
KERNEL = {  # Jupyter's usual kernel, so that no editor asks for one
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
Imports = set[tuple[str, str]]


class Computation:
    """Python code for a notebook that computes the numbers of a figure and assigns them to ``numbers``.

    The numbers are in the order of the figure's marks. The code may use ``backend``, and the keyword arguments
    ``names``: the notebook imports functions and classes, and assigns values, such as requests. A name that the code
    does not contain is left out.

    >>> Computation("numbers = np.add(one, 2)", one=(1.5, 2)).code
    'numbers = np.add(one, 2)'
    """

    def __init__(self, code: str, **names: Any) -> None:
        """Declare the code and the names that it may use."""
        self.code, self.names = code, names

    def then(self, code: str, **names: Any) -> Computation:
        """Return a longer computation: this code followed by ``code``, which may also use ``names``."""
        return Computation(f"{self.code}\n{code}", **self.names, **names)


def python_source(value: Any, imports: Imports) -> str:
    """Return a Python expression for ``value``, and add each (module, name) that it uses to the set ``imports``.

    Values are numbers, texts, None, arrays, functions, classes, and tuples, lists, dictionaries and dataclasses of
    these. Raise TypeError for other values.

    >>> python_source({"a": (1, None), "b": [np.float32(0.5)]}, set())
    "{'a': (1, None), 'b': [0.5]}"
    """
    if callable(value):
        name: str = getattr(value, "__name__")  # noqa: B009  (of functions and classes only)
        imports.add((value.__module__, name))
        return name
    if dataclasses.is_dataclass(value):
        fields = [field for field in dataclasses.fields(value) if field.init and not _is_default(value, field)]
        given = (f"{field.name}={python_source(getattr(value, field.name), imports)}" for field in fields)
        return f"{python_source(type(value), imports)}({', '.join(given)})"
    if isinstance(value, dict):
        pairs = (f"{python_source(key, imports)}: {python_source(one, imports)}" for key, one in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, tuple | list):
        inner = ", ".join(python_source(one, imports) for one in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r}, np.{value.dtype.name})"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | int | float | None) and not isinstance(value, Enum):
        return repr(value)
    raise TypeError(f"{type(value).__name__} has no Python source here.")


def _is_default(value: Any, field: dataclasses.Field[Any]) -> bool:
    known = getattr(value, field.name)
    return field.default is not dataclasses.MISSING and type(known) is type(field.default) and known == field.default


def _requirement() -> str:
    """Return a sentence on the packages of a notebook; an installed Headlight has other module names."""
    if __name__.startswith("headlight"):
        return _('Install `"headlight-attention[torch]"` with pip first.')
    return _("Needs torch and transformers; run `pip install jupyterlab` and `jupyter lab` in Headlight's repository.")


def computation_notebook(
    computation: Computation, backend: type, text: str, expected: npt.NDArray[np.float64]
) -> bytes:
    """Return a notebook (nbformat 4.5) whose last variable ``numbers`` contains the numbers of a figure.

    ``backend`` is the class that answers requests, and ``text`` the Markdown text above the code. ``expected`` are the
    figure's own numbers. The notebook fails if the largest absolute number, the mean, or the mean weighted by position
    (from 0 to 1, which detects another order) differs from that of ``expected`` by more than CLOSE.
    """
    imports: Imports = {(backend.__module__, backend.__name__)}
    lines = [f"backend = {backend.__name__}()"]
    written = set(re.findall(r"\w+", computation.code))
    for name, value in computation.names.items():
        if name not in written:
            continue
        source = python_source(value, imports)
        if source != name:
            lines.append(f"{name} = {source}")
    modules = sorted({module for module, _name in imports})
    needed = [f"from {one} import {', '.join(sorted(n for module, n in imports if module == one))}" for one in modules]
    weighted = np.ravel(expected) * np.linspace(0, 1, np.size(expected))
    found = [float(np.nanmax(np.abs(expected))), float(np.nanmean(expected)), float(np.nanmean(weighted))]
    check = (
        "weighted = np.ravel(numbers) * np.linspace(0, 1, np.size(numbers))\n"
        "known = [np.nanmax(np.abs(numbers)), np.nanmean(numbers), np.nanmean(weighted)]\n"
        f"np.testing.assert_allclose(known, {found!r}, atol={CLOSE * max(1.0, found[0])!r})\nnumbers"
    )
    sources = [
        ("markdown", f"{text}\n\n{_requirement()}"),
        ("code", "\n".join(["import numpy as np", "", *needed, "", *lines])),
        ("code", f"{computation.code}\n{check}"),
    ]
    return json.dumps(_document(sources), ensure_ascii=False, indent=1).encode()


def weights_computation(view: View, layer: int, head: int, request: object) -> Computation:
    """Return notebook code for a head's map, shape (query, key); ``request`` is the trace's TraceRequest.

    ``layer`` and ``head`` count from 0. Raise TooLong for more than MOST_CELLS weights.
    """
    check_cells(view)
    look = f"part={view.part!r}, words={view.words}, special={view.special}, renormalise={view.renormalise}"
    code = f"view = View(backend.trace(request), {look})\nnumbers = view.weights({layer}, {head})"
    return Computation(code, request=request, View=View)


def flow_computation(request: object, queries: Sequence[int], keys: Sequence[int]) -> Computation:
    """Return notebook code for the attention from some queries to some keys in each head, (layer, head).

    ``queries`` and ``keys`` are indices of tokens. Weights are summed over the keys and averaged over the queries.
    ``request`` is the TraceRequest of the text.
    """
    code = "numbers = flow(backend.trace(request), queries, keys)"
    return Computation(code, request=request, queries=list(queries), keys=list(keys), flow=flow)


def weights_methods(view: View, layer: int, head: int) -> str:
    """Return the methods sentence on a head's map: the text, the model and its hash, head and options."""
    return figure_methods(_("Attention weights"), caption(view, layer, head), "")


def figure_methods(title: str, about: Mapping[str, Any], test: str) -> str:
    """Return sentences for a paper's methods section, from which the numbers of a figure can be computed again.

    ``about`` is the provenance of the numbers: its ``text``, or its ``data`` if the numbers are of many texts. For a
    comparison, it has a provenance for each side, ``first`` and ``second``. The first sentence names the figure, its
    texts, the model and the weights' hash. The second lists all other fields as settings, such as the head or the
    edits. ``test`` are the sentences on the sample, the test and its correction.

    >>> figure_methods("Change", {"first": {"data": "10 texts"}, "second": {"data": "9 texts"}}, "").split(" with")[0]
    'Change: 10 texts, 9 texts; computed'
    >>> figure_methods("Score", {"layer": 3, "head": 1, "words_merged": True, "n": 4}, "").partition("): ")[2]
    'head: 3-1; words merged: yes; n: 4.'
    """
    sides = [about[side] for side in ("first", "second") if side in about] or [about]
    sources = ", ".join(dict.fromkeys(part for side in sides for part in _source(side)))
    made = f"{title}: {sources}; computed" if sources else f"{title}; computed"
    return " ".join(part for part in (f"{made} with {version()}.", _settings([*sides, about]), test) if part)


def _source(about: Mapping[str, Any]) -> list[str]:
    """Return the texts in quotation marks, the data, and the model with its identity, as far as they are known."""
    named = [shorten(str(about["data"]), NAMED, placeholder="…")] if about.get("data") else []
    quoted = [f"{label}{_quote(str(about[name]))}" for name, label in TEXTS.items() if about.get(name)]
    if not about.get("model"):
        return quoted + named
    identity = ", ".join(f"{label} {about[name]}" for name, label in IDENTITY.items() if about.get(name))
    return [*quoted, *named, f"{about['model']} ({identity})" if identity else str(about["model"])]


def _quote(text: str) -> str:
    """Return a text in quotation marks; if it is long or has line breaks, its beginning, length and hash.

    >>> _quote("The cat sat."), _quote("word " * 50)[56:]
    ('“The cat sat.”', 'word…” (250 characters, SHA-256 3a0a356c44b6…)')
    """
    line = " ".join(text.split())
    if line == text and len(text) <= QUOTED:
        return f"“{text}”"
    beginning = line[:BEGINNING].rstrip()
    digest = sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]
    return f"“{beginning}…” ({len(text):,} characters, SHA-256 {digest}…)"


def _settings(abouts: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence with the settings of all provenances, each value once; "" without settings."""
    found: dict[str, dict[str, None]] = {}
    for about in abouts:
        for name, value in about.items():
            if name not in NO_SETTING and (told := _setting(name, value, about)):
                found.setdefault(name, {})[told] = None
    labels = {name: name.replace("_", " ").replace("sha256", "SHA-256") for name in found}
    listed = "; ".join(f"{labels[name]}: {' / '.join(values)}" for name, values in found.items())
    return f"Settings (layers, heads and tokens from 0): {listed}." if listed else ""


def _setting(name: str, value: Any, about: Mapping[str, Any]) -> str:
    """Return the value of a field as text, "" for None; a head has the number of its layer."""
    if isinstance(value, Mapping):
        return ", ".join(f"{one} {other}" for one, other in value.items())
    if isinstance(value, list | tuple):
        return " · ".join(map(str, value))
    if name == "head" and about.get("layer") is not None:
        return head_label(about["layer"], value)
    return format_value(value).rstrip(".")


@cache
def version() -> str:
    """Return the name and version of this program, of the installed package or else of the repository.

    >>> version().split()[0]
    'Headlight'
    """
    try:
        number = metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        number = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["version"]
    return f"Headlight {number}"


def citation() -> str:
    """Return a BibTeX entry of this program, with the known fields only: it names no author."""
    name, number = version().split()
    fields = {
        "title": f"{name}: an interactive attention microscope",
        "version": number,
        "year": YEAR,
        "note": f"Python package {PACKAGE}",
    }
    listed = ",\n".join(f"  {field} = {{{value}}}" for field, value in fields.items())
    return f"@software{{headlight,\n{listed}\n}}"


def _document(sources: list[tuple[str, str]]) -> dict[str, Any]:
    cells: list[dict[str, Any]] = [
        {
            "cell_type": kind,
            "id": f"cell-{at}",
            "metadata": {},
            "source": source.splitlines(keepends=True),
            **({"execution_count": None, "outputs": []} if kind == "code" else {}),
        }
        for at, (kind, source) in enumerate(sources)
    ]
    return {"cells": cells, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}
