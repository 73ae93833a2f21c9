"""Tests that marks, kinds and palettes have equal names in Python and in the components' scripts."""

from __future__ import annotations

import json
import re
import subprocess
from typing import get_args

import pytest

from tests.support.repository import ROOT
from tools.javascript import program
from viz.components.matrices import matrices
from viz.components.token_strip import token_strip
from viz.components.tokenizer_steps import tokenizer_steps
from viz.components.tree import tree

FOLDER = ROOT / "viz" / "components"
KEYS = "console.log(JSON.stringify(Object.keys((await import(Deno.args[0])).MARKS)))"


@pytest.mark.parametrize(
    ("script", "names"),
    [("token_strip/token_strip.js", token_strip.Mark), ("tokenizer_steps/tokenizer_steps.js", tokenizer_steps.Mark)],
)
def test_every_mark_has_words_and_a_look(script: str, names: object) -> None:
    command = [program(), "eval", KEYS, (FOLDER / script).as_uri()]
    known = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert set(known) == set(get_args(names)) - {""}


@pytest.mark.parametrize(
    ("script", "field", "names"),
    [("tree/tree_layout.js", "kind", tree.Kind), ("matrices/sheet.js", "palette", matrices.Palette)],
)
def test_every_kind_and_palette_is_one_that_the_script_is_checked_with(script: str, field: str, names: object) -> None:
    stated = re.search(rf'@property \{{("[^}}]*)\}} {field}\b', (FOLDER / script).read_text(encoding="utf-8"))
    assert stated, f"{script} states no {field}"
    assert set(re.findall(r'"([a-z]+)"', stated[1])) == set(get_args(names))
    look = (FOLDER / script).parent / ("tree_picture.js" if field == "kind" else "sheet_picture.js")
    drawn = look.read_text(encoding="utf-8")
    usual = get_args(names)[0] if field == "palette" else ""  # The script draws the first palette by default.
    assert all(re.search(rf"\b{name}\b", drawn) for name in get_args(names) if name != usual)
