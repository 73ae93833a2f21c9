"""Saved tables: cells that no spreadsheet runs, unique column names, and the file that states the provenance.

Excel, LibreOffice and Google Sheets run a cell that begins with one of these signs; what a visitor or a model's file
says may begin so. An apostrophe before it keeps it a text.
"""

from __future__ import annotations

import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

from i18n import _

MARK = "\ufeff"  # tells a spreadsheet that the file is UTF-8
EMPTY = "(empty)"  # the name of a column whose name is empty
STEM_BYTES = 200  # of a file's name without its ending; file systems allow 255 for all of it
STEM = 100  # characters of a file's name without its ending
PART = 40  # characters of the table's name, and of the model's, within a file's name
TEXT = 24  # characters of the text within a file's name
FIXED = (1980, 1, 1, 0, 0, 0)  # date of every file in a zip: equal content gives equal bytes

SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_cell(cell: str) -> str:
    """A text as a cell; numbers are not given to this, and keep their sign.

    >>> safe_cell("=1+1"), safe_cell(" @x"), safe_cell("it")
    ("'=1+1", "' @x", 'it')
    """
    return f"'{cell}" if cell.startswith(SIGNS) or cell.lstrip().startswith(SIGNS) else cell


def plain_cell(cell: str) -> str:
    """The text that ``safe_cell`` made a cell of.

    >>> plain_cell("'=1+1"), plain_cell("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell[:1] == "'" and safe_cell(cell[1:]) == cell else cell


def column_names(names: Iterable[str]) -> list[str]:
    """Return the names as cells that are unique and not empty, so that pandas keeps them.

    The second "the" becomes "the#2".

    >>> column_names(["the", "", "the", "=x", "the"])
    ['the', '(empty)', 'the#2', "'=x", 'the#3']
    >>> column_names(["a#2", "a", "a"])
    ['a#2', 'a', 'a#3']
    """
    cells = [safe_cell(name) or EMPTY for name in names]
    taken, found = set(cells), dict.fromkeys(cells, 0)
    unique: list[str] = []
    for cell in cells:
        found[cell] += 1
        name = cell
        if found[cell] > 1:
            while (name := f"{cell}#{found[cell]}") in taken:
                found[cell] += 1
            taken.add(name)
        unique.append(name)
    return unique


def file_stem(table: str, provenance: Mapping[str, Any]) -> str:
    """Return a file name without its ending: the table's name, the model, layer and head, and the text's beginning.

    A comparison's provenance has the names of its first reading.

    >>> about = {"model": "org/tiny", "layer": 3, "head": 1, "text": "The animal didn't cross the street."}
    >>> file_stem("headlight-attention", about)
    'headlight-attention_tiny_3-1_the-animal-didn-t-cross'
    >>> file_stem("headlight-two", {"model": "../..", "text": "那只动物"})
    'headlight-two_那只动物'
    """
    about = provenance.get("first", provenance)
    model = re.split(r"[/\\]", str(about.get("model") or "").rstrip("/\\"))[-1]
    text = _slug(str(about.get("text") or "").lower(), TEXT + 1)
    if len(text) > TEXT:
        text = text[:TEXT].rpartition("-")[0] or text[:TEXT]
    place = "" if about.get("layer") is None or about.get("head") is None else f"{about['layer']}-{about['head']}"
    parts = [_slug(table, PART) or "headlight", _slug(model, PART), place, text.strip("-.")]
    stem = "_".join(part for part in parts if part)[:STEM]
    return stem.encode()[:STEM_BYTES].decode(errors="ignore").rstrip("-._")


def meta_json(table: str, provenance: Mapping[str, Any]) -> bytes:
    """Return the file that lies next to the CSV file ``table``: its provenance, and how to read its cells."""
    notes = [
        _("an apostrophe before = + - @ keeps a spreadsheet from reading a token as a formula"),
        _("pandas reads words such as NA and null as missing; keep_default_na=False keeps them as text"),
    ]
    return (json.dumps({"table": table, **provenance, "notes": notes}, ensure_ascii=False, indent=2) + "\n").encode()


def with_provenance(stem: str, table: str | bytes, provenance: Mapping[str, Any]) -> bytes:
    """Return a zip of ``stem``.csv, the table in UTF-8 with its mark, and ``stem``.meta.json, its provenance."""
    text = table if isinstance(table, str) else table.decode()
    page = io.BytesIO()
    with zipfile.ZipFile(page, "w") as files:
        files.writestr(zip_member(f"{stem}.csv"), f"{MARK}{text.removeprefix(MARK)}".encode())
        files.writestr(zip_member(f"{stem}.meta.json"), meta_json(f"{stem}.csv", provenance))
    return page.getvalue()


def zip_member(name: str) -> zipfile.ZipInfo:
    """Return a compressed member of a zip, with a fixed date."""
    member = zipfile.ZipInfo(name, FIXED)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o644 << 16
    return member


def _slug(text: str, most: int) -> str:
    """Return the text's letters, marks, digits and dots, at most ``most`` characters, hyphens for all others."""
    signs = (sign if sign == "." or unicodedata.category(sign)[0] in "LMN" else "-" for sign in text[: 10 * most])
    return re.sub(r"-+", "-", "".join(signs)).strip("-.")[:most]
