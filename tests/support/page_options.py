"""The options class of each view, found by its name and its declarations."""

from __future__ import annotations

import importlib
import re
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from tests.support.repository import ROOT
from viz.options import DECLARATION

CLASS = re.compile(r"^class (\w+Options)\b", re.MULTILINE)


@cache
def page_options() -> dict[str, type[Any]]:
    """Return the options class of each view: the dataclass of its folder that declares options of the address.

    >>> page_options()["tokens"].__name__
    'TokensOptions'
    """
    found: dict[str, type[Any]] = {}
    for file in sorted((ROOT / "ui" / "pages").glob("*/*.py")):
        for name in CLASS.findall(file.read_text(encoding="utf-8")):
            kind: type[Any] = getattr(importlib.import_module(f"ui.pages.{file.parent.name}.{file.stem}"), name)
            if is_dataclass(kind) and any(DECLARATION in field.metadata for field in fields(kind)):
                assert file.parent.name not in found, f"{file.parent.name} has two classes of options"
                found[file.parent.name] = kind
    return found
