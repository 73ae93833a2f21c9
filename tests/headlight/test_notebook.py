"""The examples of docs/NOTEBOOK.md run unchanged on a tiny model; docs/notebook.ipynb runs cell by cell."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import tinymodels
from tests.support.repository import ROOT

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODEL = "FOLDER OR ID OF A MODEL"


@pytest.mark.slow
def test_every_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tinymodels.save(tmp_path / "model", "bert")
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((ROOT / "docs/NOTEBOOK.md").read_text(encoding="utf-8"))
    assert len(blocks) == 8
    assert sum(MODEL in block for block in blocks) == 1
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block.replace(MODEL, str(folder)), names)
        if "shown" in block:
            assert names["shown"]._repr_html_().startswith("<iframe")
    assert (tmp_path / "page.html").stat().st_size > 100_000
    assert names["shown"].trace.has_qkv()
    assert names["shown"].selection["focus"] == names["shown"].trace.tokens.index("it")
    written = names["headlight"].view(names["written"].attentions, names["names"]).trace
    assert (written.part, len(written.tokens), written.layers, written.heads) == ("decoder", 6, 2, 3)


def cells() -> list[Any]:
    """Return the cells of the bundled notebook."""
    found: list[Any] = json.loads((ROOT / "docs/notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    return found


def test_the_notebook_holds_no_outputs() -> None:
    code = [cell for cell in cells() if cell["cell_type"] == "code"]
    assert len(code) > 4
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


@pytest.mark.slow
def test_the_notebook_runs_cell_by_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell's last line is rendered as Jupyter renders it."""
    monkeypatch.chdir(ROOT / "docs")
    monkeypatch.setattr(sys, "path", list(sys.path))
    names: dict[str, Any] = {}
    drawn: list[Any] = []
    for cell in cells():
        if cell["cell_type"] != "code":
            continue
        lines = ast.parse("".join(cell["source"]))
        last = lines.body.pop() if isinstance(lines.body[-1], ast.Expr) else None
        exec(compile(lines, "notebook.ipynb", "exec"), names)
        if isinstance(last, ast.Expr):
            drawn.append(eval(compile(ast.Expression(last.value), "notebook.ipynb", "eval"), names))
    explored, strongest, viewed, widget, selection = drawn
    assert explored._repr_html_().startswith("<iframe")
    assert viewed._repr_html_().startswith("<iframe")
    assert strongest[0][0] > 0.1
    assert "application/vnd.jupyter.widget-view+json" in widget._repr_mimebundle_()[0]
    assert (selection["layer"], selection["head"], selection["focus"], selection["target"]) == (3, 2, 4, None)
