"""CSV export: cells that spreadsheets do not evaluate, unique column names, and a file of provenance.

Excel, LibreOffice and Google Sheets evaluate cells that begin with characters such as = or +, and texts of visitors or
of model files may begin so. An apostrophe before the cell keeps it a text.
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

MARK = "\ufeff"  # byte-order mark, which marks the file as UTF-8 for spreadsheets
EMPTY = "(empty)"  # replacement for an empty column name
STEM_BYTES = 200  # bytes of a file name without its extension; file systems allow 255 in total
STEM = 100  # characters of a file name without its extension
PART = 40  # characters of the table name, and of the model name, in a file name
TEXT = 24  # characters of the text in a file name
FIXED = (1980, 1, 1, 0, 0, 0)  # fixed date of zip members, so that equal content gives equal bytes

SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_cell(cell: str) -> str:
    """Return a text for a CSV cell, with an apostrophe in front if a spreadsheet would evaluate it.

    >>> safe_cell("=1+1"), safe_cell(" @x"), safe_cell("it")
    ("'=1+1", "' @x", 'it')
    """
    return f"'{cell}" if cell.startswith(SIGNS) or cell.lstrip().startswith(SIGNS) else cell


def plain_cell(cell: str) -> str:
    """Return the text of a cell without the apostrophe that ``safe_cell`` added.

    >>> plain_cell("'=1+1"), plain_cell("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell[:1] == "'" and safe_cell(cell[1:]) == cell else cell


def column_names(names: Iterable[str]) -> list[str]:
    """Return the names, changed so that none is empty and none occurs twice, for pandas.

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
    """Return a file name without extension: table, model, layer and head, and the text or data.

    A longer text is shortened to its first and last words, because compared texts often begin alike.

    For a comparison, model and text are those of the first view.

    >>> about = {"model": "org/tiny", "layer": 3, "head": 1, "text": "The animal didn't cross the street."}
    >>> file_stem("headlight-attention", about)
    'headlight-attention_tiny_3-1_the-animal--the-street'
    >>> file_stem("headlight-two", {"model": "../..", "text": "那只动物"})
    'headlight-two_那只动物'
    """
    about = provenance.get("first", provenance)
    model = re.split(r"[/\\]", str(about.get("model") or "").rstrip("/\\"))[-1]
    text = _short_slug(str(about.get("text") or about.get("data") or "").lower())
    place = "" if about.get("layer") is None or about.get("head") is None else f"{about['layer']}-{about['head']}"
    parts = [_slug(table, PART) or "headlight", _slug(model, PART), place, text.strip("-.")]
    stem = "_".join(part for part in parts if part)[:STEM]
    return stem.encode()[:STEM_BYTES].decode(errors="ignore").rstrip("-._")


def meta_json(table: str, provenance: Mapping[str, Any]) -> bytes:
    """Return a JSON file with the provenance of the CSV file ``table`` and notes on how to read its cells."""
    notes = [
        _("an apostrophe before = + - @ prevents formulas"),
        _("pandas reads NA and null as missing, unless keep_default_na=False"),
    ]
    return (json.dumps({"table": table, **provenance, "notes": notes}, ensure_ascii=False, indent=2) + "\n").encode()


def with_provenance(stem: str, table: str | bytes, provenance: Mapping[str, Any]) -> bytes:
    """Return a zip of ``stem``.csv (UTF-8 with byte-order mark) and ``stem``.meta.json (the provenance)."""
    text = table if isinstance(table, str) else table.decode()
    page = io.BytesIO()
    with zipfile.ZipFile(page, "w") as files:
        files.writestr(zip_member(f"{stem}.csv"), f"{MARK}{text.removeprefix(MARK)}".encode())
        files.writestr(zip_member(f"{stem}.meta.json"), meta_json(f"{stem}.csv", provenance))
    return page.getvalue()


def zip_member(name: str) -> zipfile.ZipInfo:
    """Return the entry of a file in a zip, compressed and with a fixed date, so that zips are reproducible."""
    member = zipfile.ZipInfo(name, FIXED)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o644 << 16
    return member


def _short_slug(text: str) -> str:
    """Return the slug of a text; if it exceeds TEXT, the slugs of its first and last words.

    Of a long last word in Latin letters, keep the beginning, without the extension of a file name.

    >>> _short_slug("head atlas of 300,086 tokens (dev.conllu, wikipedia.jsonl)")
    'head-atlas--wikipedia'
    """
    first = _slug(text, TEXT + 1)
    if len(first) <= TEXT:
        return first
    half = TEXT // 2
    words = _slug(text[-10 * TEXT :], 10 * TEXT)
    last, word = words[-half:], words.rpartition("-")[2]
    if len(word) > half and word.isascii():
        last = word.partition(".")[0][:half]
    return f"{first[:half].rpartition('-')[0] or first[:half]}--{last.partition('-')[2] or last}"


def _slug(text: str, most: int) -> str:
    """Return letters, marks, digits and dots of a text, with hyphens for other characters.

    The result has at most ``most`` characters.
    """
    signs = (sign if sign == "." or unicodedata.category(sign)[0] in "LMN" else "-" for sign in text[: 10 * most])
    return re.sub(r"-+", "-", "".join(signs)).strip("-.")[:most]
