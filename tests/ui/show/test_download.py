"""Downloads of all pages: each states the model of origin."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.cases import loop_over

ROOT = Path(__file__).resolve().parents[3]
# Files that contain their model's name, by the expression of their content.
ITSELF = {
    "add_header", "archive", "json.dumps",  # The provenance is part of the file.
    "in_html",  # Each figure of a worksheet names its model.
    "page_html",  # The document has the captions of both readings.
    "asked.result.program",  # The program loads its model by name.
}  # fmt: skip
# Files that do not depend on a model.
NO_MODEL = {
    "headlight-by-hand.csv",
    "why_attention.csv",
    "headlight-probes.json",
    "headlight-pairs.csv",
    "headlight-class.csv",
    "headlight-cards.csv",  # each row names its model
    "headlight-worksheet.md",
    "headlight-worksheet.csv",
    "lesson.toml",
}


def offered() -> Iterator[tuple[str, ast.Call]]:
    """Yield each call of ``download_button`` with its file and line."""
    for folder in ("ui", "pages"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(source)) if "download_button(" in source else ():
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "download_button":
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node


OFFERED = dict(offered())


@loop_over("where", OFFERED)
def test_it_says_which_model_made_it(where: str) -> None:
    call = OFFERED[where]
    if any(keyword.arg == "provenance" for keyword in call.keywords):
        return
    made = call.args[1].func if isinstance(call.args[1], ast.Call) else call.args[1]
    name = ast.literal_eval(call.args[2]) if isinstance(call.args[2], ast.Constant) else ""
    assert ast.unparse(made) in ITSELF or name in NO_MODEL, f"{where} offers {ast.unparse(call.args[2])}, of no model"


def test_the_pages_offer_many() -> None:
    assert len(OFFERED) > 40
