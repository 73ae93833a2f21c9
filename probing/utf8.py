"""The text in a file, or the kind of file that came instead of text."""

from __future__ import annotations

import codecs
import io
import re
import zipfile
from itertools import islice
from pathlib import Path

from inference.errors import Refusal
from probing import parquet
from wording import sentence

READABLE = {".csv", ".tsv", ".txt", ".jsonl", ".json", ".parquet", ".conll", ".conllu", ".iob2", ".bio", ".iob"}
MOST_LISTED, SHOWN = 1_000, 3  # paths of a folder that are looked at, and that are shown
MOST_ACCENTS = 0.15  # share of bytes beyond ASCII in Western European texts
LEAST_GUESSED, GUESSED_FROM = 100, 100_000  # bytes
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
UNPACK = sentence("Unpack it and choose the file inside.")
SAVE = sentence("Save the texts as CSV in UTF-8.")
TABLE = sentence("Save it as CSV, for instance with pandas.")
KINDS: tuple[tuple[bytes, str, str], ...] = (  # how the file begins, its kind, the fix
    (b"\x1f\x8b", sentence("a gzip archive"), UNPACK),
    (b"BZh", sentence("a bzip2 archive"), UNPACK),
    (b"\xfd7zXZ\0", sentence("an xz archive"), UNPACK),
    (b"\x28\xb5\x2f\xfd", sentence("a Zstandard archive"), UNPACK),
    (b"7z\xbc\xaf\x27\x1c", sentence("a 7z archive"), UNPACK),
    (b"Rar!\x1a\x07", sentence("a RAR archive"), UNPACK),
    (b"PAR1", sentence("a Parquet file"), TABLE),
    (b"ARROW1", sentence("an Arrow or Feather file"), TABLE),
    (b"FEA1", sentence("an Arrow or Feather file"), TABLE),
    (b"\xff\xff\xff\xff", sentence("an Arrow or Feather file"), TABLE),
    (b"SQLite format 3\0", sentence("an SQLite database"), TABLE),
    (b"\x89HDF\r\n\x1a\n", sentence("an HDF5 file"), TABLE),
    (b"\x93NUMPY", sentence("a NumPy array"), TABLE),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", sentence("an old Office file (XLS or DOC)"), SAVE),
    (b"%PDF-", sentence("a PDF document"), SAVE),
    (b"{\\rtf", sentence("an RTF document"), SAVE),
    (b"\x89PNG", sentence("a picture"), SAVE),
    (b"\xff\xd8\xff", sentence("a picture"), SAVE),
    (b"GIF8", sentence("a picture"), SAVE),
    (b"<!DOCTYPE html", sentence("a web page"), sentence("Download the raw file.")),
    (b"<html", sentence("a web page"), sentence("Download the raw file.")),
    (b"version https://git-lfs", sentence("a Git LFS pointer"), sentence("Fetch the file itself with git lfs pull.")),
)
IN_ZIP = (  # a file inside, the kind, the fix
    ("xl/workbook.xml", sentence("an Excel workbook"), sentence("Save the sheet as CSV in UTF-8.")),
    ("word/document.xml", sentence("a DOCX document"), SAVE),
    ("ppt/presentation.xml", sentence("a PowerPoint file"), SAVE),
    ("content.xml", sentence("an OpenDocument file"), SAVE),
)


def decoded(content: bytes, *, table: bool = False) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 or UTF-32 with a mark; raise Refusal for anything else.

    With ``table``, a Parquet file is read, too: its rows as JSON Lines.

    >>> decoded(b"\\xef\\xbb\\xbfIl fait froid."), decoded("déjà".encode("utf-16"))
    ('Il fait froid.', 'déjà')
    """
    if table and content.startswith(parquet.START):
        return parquet.json_lines(content)
    _refuse_kind(content)
    coding = next((name for mark, name in MARKS if content.startswith(mark)), "utf-8")
    try:
        return content.decode(coding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise Refusal(sentence("Line {line} is not UTF-8 text. Save the file as UTF-8.", line=line)) from error


def decoded_or_guessed(content: bytes) -> tuple[str, str]:
    """Return the text of a table and the encoding that was guessed for it, "" if none was; raise Refusal.

    >>> decoded_or_guessed("L'été à Paris est très chaud.".encode("cp1252"))
    ("L'été à Paris est très chaud.", 'cp1252')
    """
    try:
        return decoded(content, table=True), ""
    except Refusal as refusal:
        coding = _guess(content) if isinstance(refusal.__cause__, UnicodeDecodeError) else None
        if coding is None:
            raise
        return content.decode(coding), coding


def _guess(content: bytes) -> str | None:
    """Return the likeliest encoding of bytes that are not UTF-8; None if they are UTF-8 with errors, or not text.

    Bytes of which most are ASCII are cp1252, or Latin-1 if that lacks a byte; charset-normalizer guesses the others.
    """
    replaced = content.decode("utf-8", "replace")
    wrong = replaced.count("\ufffd")
    right = len(re.findall("[^\0-\x7f\ufffd]", replaced))
    if b"\0" in content or wrong < 2 or right >= wrong:
        return None
    if len(re.findall(rb"[\x80-\xff]", content)) < MOST_ACCENTS * len(content):
        codings: tuple[str, ...] = ("cp1252", "latin-1") if b"\xff" not in content else ()
    else:
        codings = _statistical_guess(content)
    return next((coding for coding in codings if _fits(content, coding)), None)


def _statistical_guess(content: bytes) -> tuple[str, ...]:
    """Return the encoding that charset-normalizer finds in whole lines, if it also recognises a language."""
    from charset_normalizer import from_bytes

    start = content[: content.rfind(b"\n", 0, GUESSED_FROM) + 1] or content
    best = from_bytes(start).best() if len(start) >= LEAST_GUESSED else None
    return (best.encoding,) if best is not None and best.language != "Unknown" else ()


def _fits(content: bytes, coding: str) -> bool:
    """Return whether an encoding has a character for all bytes."""
    try:
        content.decode(coding)
    except UnicodeDecodeError:
        return False
    return True


def refuse_folder(path: Path) -> None:
    """Raise Refusal if a path is a folder, such as a data set, with files in it to give instead."""
    if not path.is_dir():
        return
    paths = sorted(islice(path.rglob("*"), MOST_LISTED))
    readable = [str(file.relative_to(path)) for file in paths if file.suffix.lower() in READABLE and file.is_file()]
    if readable:
        fix = sentence("Give a file in it, such as {files}.", files=", ".join(readable[:SHOWN]))
    elif any(file.suffix == ".arrow" for file in paths):
        fix = sentence("It holds a data set in Arrow format. Save it with to_parquet and give that file.")
    else:
        fix = sentence("Give a file, such as CSV, JSON Lines or Parquet.")
    raise Refusal(sentence("{path} is a folder. {fix}", path=path, fix=fix))


def _refuse_kind(content: bytes) -> None:
    """Raise Refusal if the first bytes are those of a known kind of file that is not text."""
    found = next(((kind, fix) for start, kind, fix in KINDS if content[:32].lower().startswith(start.lower())), None)
    if content.startswith(b"PK\x03\x04"):
        found = _in_zip(content)
    elif content[:1] == b"\x80" and content[1:2] in b"\x02\x03\x04\x05" and content.rstrip(b"\n").endswith(b"."):
        found = sentence("a Python pickle, which is never opened here"), TABLE
    if found is not None:
        kind, fix = found
        raise Refusal(sentence("The file is {kind}, not text. {fix}", kind=kind, fix=fix))


def _in_zip(content: bytes) -> tuple[str, str]:
    """Return the kind of a file that is a zip archive, and the fix."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        names = set()
    return next(((kind, fix) for name, kind, fix in IN_ZIP if name in names), (sentence("a zip archive"), UNPACK))
