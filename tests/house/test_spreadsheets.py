"""Every writer of CSV files escapes texts by the shared rule, so that spreadsheets do not run them as formulas."""

from __future__ import annotations

import ast
import re

from tests.support.repository import ROOT

WRITES = re.compile(r"\bcsv\.(?:Dict)?[wW]riter\(|\.to_csv\(")
WITHOUT_A_MODEL = {  # These tables contain no model and no text of the reader, or name the model in each row.
    "ui/pages/by_hand/controls.py",
    "ui/pages/classroom/teacher_view.py",
    "ui/pages/compare/pair_set.py",
    "ui/pages/lessons/worksheet.py",
    "ui/pages/why_attention/page.py",
    "ui/show/card_list.py",
}
ROOMS = ("attention", "inference", "probing", "training", "ui", "pages", "viz")


def test_every_file_of_a_table_is_written_by_the_rule() -> None:
    writers = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
    }
    writers = {name: code for name, code in writers.items() if WRITES.search(code)}
    assert "ui/show/tables.py" in writers
    assert [name for name, code in writers.items() if "safe_cell(" not in code and "map(safe_cell" not in code] == []


def saves() -> dict[str, ast.Call]:
    """Return every call of ``download_button`` that writes a CSV table, by the names of module and file."""
    found: dict[str, ast.Call] = {}
    for room in ("ui", "pages"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
                    continue
                ours = ast.unparse(node.func) == "download_button"
                kinds = [keyword.value for keyword in node.keywords if keyword.arg in ("kind", "mime")]
                other = any(isinstance(kind, ast.Constant) and kind.value != "text/csv" for kind in kinds)
                table = any(
                    isinstance(part, ast.Constant) and str(part.value).endswith(".csv")
                    for argument in node.args[2:3]
                    for part in ast.walk(argument)
                )
                if table or (ours and not other and not ast.unparse(node.args[2]).endswith(".json'")):
                    found[f"{path.relative_to(ROOT).as_posix()}: {ast.unparse(node.args[2])}"] = node
    return found


def test_every_saved_table_has_its_provenance() -> None:
    """With ``provenance`` the button saves a zip with a .meta.json that names model, head and text."""
    calls = saves()
    assert len(calls) > 50
    bare = {
        place.split(":")[0]
        for place, call in calls.items()
        if "provenance" not in {keyword.arg for keyword in call.keywords}
    }
    assert bare == WITHOUT_A_MODEL
