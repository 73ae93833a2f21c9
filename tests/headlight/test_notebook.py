"""The examples of docs/NOTEBOOK.md run as they stand, on a tiny model in place of the one to be named."""

from __future__ import annotations

import re
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
    assert len(blocks) == 5
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
