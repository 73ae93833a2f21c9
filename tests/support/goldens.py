"""Goldens: expected figures as numbers, a file each in tests/viz/goldens/.

A golden contains the drawing on a light page as JSON, and the differences on a dark page. Numbers have five
digits, so that rounding differences between machines cause no changes, as they would in pixels.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.support.gallery import FIGURES, SHEETS
from tests.support.repository import ROOT
from viz.figures.theme import DARK, LIGHT

FOLDER = ROOT / "tests" / "viz" / "goldens"
DIGITS = 5
Plain = Any  # Any value that JSON can represent.
NOTHING = "nothing"  # In a change, this marks a missing value.


def names() -> list[str]:
    """Return the name of every example's golden, which is the file's name without its ending."""
    return [*(f"figures-{name}" for name in FIGURES), *(f"sheets-{name}" for name in SHEETS)]


def draw(name: str) -> Plain:
    """Draw an example in the form of its golden."""
    kind, _, example = name.partition("-")
    return _figure(example) if kind == "figures" else _sheets(example)


def drawn() -> dict[str, Plain]:
    """Draw every example in the form of its golden, by name."""
    return {name: draw(name) for name in names()}


def kept() -> dict[str, Plain]:
    """Load all goldens from their files, by name."""
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(FOLDER.glob("*.json"))}


def write(goldens: dict[str, Plain]) -> None:
    """Write these goldens and delete all others."""
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.json"):
        if file.stem not in goldens:
            file.unlink()
    for name, golden in goldens.items():
        lines = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(golden[key], ensure_ascii=False)}" for key in sorted(golden)
        )
        (FOLDER / f"{name}.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def changes(old: Plain, new: Plain, place: str = "") -> Iterator[tuple[str, Plain, Plain]]:
    """Yield (place, old, new) for every difference.

    >>> list(changes({"a": [1, 2]}, {"a": [1, 3], "b": 0}))
    [('a.1', 2, 3), ('b', 'nothing', 0)]
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from changes(old.get(key, NOTHING), new.get(key, NOTHING), f"{place}.{key}".lstrip("."))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from changes(before, after, f"{place}.{at}")
    elif old != new:
        yield place, old, new


def _figure(name: str) -> Plain:
    light, dark = (_plain(json.loads(FIGURES[name](theme).to_json())) for theme in (LIGHT, DARK))
    return {**light, "dark": {place: after for place, _, after in changes(light, dark)}}


def _sheets(name: str) -> Plain:
    return {"sheets": [_plain({**vars(sheet), "values": sheet.values.tolist()}) for sheet in SHEETS[name]()]}


def _plain(value: Plain) -> Plain:
    """Convert arrays to lists and round numbers to ``DIGITS`` digits."""
    if isinstance(value, dict) and value.keys() >= {"bdata", "dtype"}:
        array = np.frombuffer(base64.b64decode(value["bdata"]), np.dtype(value["dtype"]))
        shape = [int(size) for size in str(value.get("shape", array.size)).split(",")]
        return _plain(array.reshape(shape).tolist())
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, float):
        short = float(f"{value:.{DIGITS}g}")
        return "nan" if short != short else int(short) if short.is_integer() else short
    return value
