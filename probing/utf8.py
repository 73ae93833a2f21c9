"""The text in a file, or the kind of file that came instead of text."""

from __future__ import annotations

import codecs
import io
import re
import zipfile
from itertools import islice
from pathlib import Path

from i18n import gettext_lazy
from inference.errors import UserError
from probing import parquet
from probing.encodings import fits, guess

NOT_FOR_FILES = {"unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined", "mbcs", "oem"}
READABLE = {".csv", ".tsv", ".txt", ".jsonl", ".json", ".parquet", ".conll", ".conllu", ".iob2", ".bio", ".iob"}
MOST_LISTED, SHOWN = 1_000, 3  # paths of a folder that are looked at, and that are shown
EXCEL_SEPARATOR = re.compile(r"\A\"?sep=[,;|\t]\"?\n", re.IGNORECASE)
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
UNPACK = gettext_lazy("Unpack it and choose the file inside.")
SAVE = gettext_lazy("Save the texts as CSV in UTF-8.")
TABLE = gettext_lazy("Save it as CSV, for instance with pandas.")
KINDS: tuple[tuple[bytes, str, str], ...] = (  # how the file begins, its kind, the fix
    (b"\x1f\x8b", gettext_lazy("a gzip archive"), UNPACK),
    (b"BZh91AY&SY", gettext_lazy("a bzip2 archive"), UNPACK),
    (b"\xfd7zXZ\0", gettext_lazy("an xz archive"), UNPACK),
    (b"\x28\xb5\x2f\xfd", gettext_lazy("a Zstandard archive"), UNPACK),
    (b"7z\xbc\xaf\x27\x1c", gettext_lazy("a 7z archive"), UNPACK),
    (b"Rar!\x1a\x07", gettext_lazy("a RAR archive"), UNPACK),
    (parquet.START, gettext_lazy("a Parquet file"), TABLE),
    (b"ARROW1\0", gettext_lazy("an Arrow or Feather file"), TABLE),
    (b"FEA1", gettext_lazy("an Arrow or Feather file"), TABLE),
    (b"\xff\xff\xff\xff", gettext_lazy("an Arrow or Feather file"), TABLE),
    (b"SQLite format 3\0", gettext_lazy("an SQLite database"), TABLE),
    (b"\x89HDF\r\n\x1a\n", gettext_lazy("an HDF5 file"), TABLE),
    (b"\x93NUMPY", gettext_lazy("a NumPy array"), TABLE),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", gettext_lazy("an old Office file (XLS or DOC)"), SAVE),
    (b"%PDF-", gettext_lazy("a PDF document"), SAVE),
    (b"{\\rtf", gettext_lazy("an RTF document"), SAVE),
    (b"\x89PNG", gettext_lazy("a picture"), SAVE),
    (b"\xff\xd8\xff", gettext_lazy("a picture"), SAVE),
    (b"GIF87a", gettext_lazy("a picture"), SAVE),
    (b"GIF89a", gettext_lazy("a picture"), SAVE),
    (b"<!DOCTYPE html", gettext_lazy("a web page"), gettext_lazy("Download the raw file.")),
    (b"<html", gettext_lazy("a web page"), gettext_lazy("Download the raw file.")),
    (b"<?xml", gettext_lazy("an XML file"), SAVE),
    (
        b"version https://git-lfs",
        gettext_lazy("a Git LFS pointer"),
        gettext_lazy("Fetch the file itself with git lfs pull."),
    ),
)
IN_ZIP = (  # a file inside, the kind, the fix
    ("xl/workbook.xml", gettext_lazy("an Excel workbook"), gettext_lazy("Save the sheet as CSV in UTF-8.")),
    ("word/document.xml", gettext_lazy("a DOCX document"), SAVE),
    ("ppt/presentation.xml", gettext_lazy("a PowerPoint file"), SAVE),
    ("content.xml", gettext_lazy("an OpenDocument file"), SAVE),
)


def decode_text(content: bytes) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 or UTF-32 with a mark; raise Refusal for anything else.

    >>> decode_text(b"\\xef\\xbb\\xbfIl fait froid."), decode_text("déjà".encode("utf-16"))
    ('Il fait froid.', 'déjà')
    """
    _refuse_kind(content)
    coding = next((name for mark, name in MARKS if content.startswith(mark)), "utf-8")
    try:
        return content.decode(coding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UserError(gettext_lazy("Line {line} is not UTF-8 text. Save the file as UTF-8.", line=line)) from error


def decoded_or_guessed(content: bytes, encoding: str = "") -> tuple[str, str]:
    """Return the text of a table and the encoding that was guessed for it, "" if none was; raise Refusal.

    A Parquet file is read as JSON Lines. Line ends become "\\n"; an end-of-file mark (U+001A) and Excel's line
    "sep=;" are left out. A file in ``encoding`` is not guessed.

    >>> decoded_or_guessed("L'été à Paris est très chaud.".encode("cp1252"))
    ("L'été à Paris est très chaud.", 'cp1252')
    """
    if content.startswith(parquet.START):
        return parquet.json_lines(content), ""
    guessed = ""
    if encoding:
        text = _in_encoding(content, encoding)
    elif guessed := guessed_encoding(content):
        text = content.decode(guessed)
    else:
        text = decode_text(content)
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").rstrip("\x1a")
    refuse_zero_bytes(text)
    return EXCEL_SEPARATOR.sub("\n", text, count=1), guessed


def refuse_zero_bytes(text: str) -> None:
    """Raise Refusal if a file's text contains zero bytes, as binary files do."""
    if "\0" in text:
        raise UserError(
            gettext_lazy("The file is binary, not text: it holds zero bytes. Save it as a text or CSV file in UTF-8.")
        )


def guessed_encoding(content: bytes) -> str:
    """Return the encoding that is guessed for a file of text; "" if it is UTF-8, Parquet, or no text that is known.

    >>> guessed_encoding("déjà".encode()), guessed_encoding("déjà vu".encode("latin-1"))
    ('', 'cp1252')
    """
    return "" if needs_no_guess(content) else guess(content) or ""


def needs_no_guess(content: bytes) -> bool:
    """Return whether no encoding has to be guessed: a file is Unicode, Parquet, or not text."""
    if content.startswith((parquet.START, *(mark for mark, _ in MARKS))) or _detect_kind(content) is not None:
        return True
    return b"\0" not in content and fits(content, "utf-8")


def first_damage(content: bytes) -> int:
    """Return the place of the first byte that is not UTF-8 text, or is zero; the length if there is none.

    >>> first_damage(b"ab\\xe9c"), first_damage(b"ab\\0"), first_damage(b"ab")
    (2, 2, 2)
    """
    end = content.find(b"\0") if b"\0" in content else len(content)
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return min(error.start, end)
    return end


def guess_message(name: str, encoding: str) -> str:
    """Return the sentence that states an encoding that was guessed for a file."""
    return gettext_lazy(
        "{name} is not UTF-8; it was read as {encoding}. Check that its letters are right.",
        name=name,
        encoding=encoding,
    )


def _in_encoding(content: bytes, encoding: str) -> str:
    """Return a file's text in the named encoding; raise Refusal if there is none of this name or it does not fit."""
    _refuse_kind(content)
    coding = _python_name(encoding)
    if coding is None:
        raise UserError(
            gettext_lazy(
                "“{encoding}” is not a known encoding. Examples are utf-8, cp1252, latin-1, mac-roman and gb18030.",
                encoding=encoding[:40],
            )
        )
    try:
        return content.decode(coding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UserError(
            gettext_lazy("Line {line} is not {encoding} text. Name another encoding.", line=line, encoding=encoding)
        ) from error


def _python_name(encoding: str) -> str | None:
    """Return Python's name of an encoding of text files; None if there is none of this name.

    >>> _python_name("Latin-1"), _python_name("utf-16"), _python_name("rot13"), _python_name("none")
    ('iso8859-1', 'utf-16', None, None)
    """
    try:
        "a".encode(encoding)
        found = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return None
    return None if found.replace("_", "-") in NOT_FOR_FILES else found


def refuse_folder(path: Path) -> None:
    """Raise Refusal if a path is a folder, such as a data set, with files in it to give instead."""
    if not path.is_dir():
        return
    paths = sorted(islice(path.rglob("*"), MOST_LISTED))
    readable = [str(file.relative_to(path)) for file in paths if file.suffix.lower() in READABLE and file.is_file()]
    if readable:
        fix = gettext_lazy("Give a file in it, such as {files}.", files=", ".join(readable[:SHOWN]))
    elif any(file.suffix == ".arrow" for file in paths):
        fix = gettext_lazy("It holds a data set in Arrow format. Save it with to_parquet and give that file.")
    else:
        fix = gettext_lazy("Give a file, such as CSV, JSON Lines or Parquet.")
    raise UserError(gettext_lazy("{path} is a folder. {fix}", path=path, fix=fix))


def _refuse_kind(content: bytes) -> None:
    """Raise Refusal if the first bytes are those of a known kind of file that is not text."""
    if (found := _detect_kind(content)) is not None:
        kind, fix = found
        raise UserError(gettext_lazy("The file is {kind}, not text. {fix}", kind=kind, fix=fix))


def _detect_kind(content: bytes) -> tuple[str, str] | None:
    """Return the kind of a file that is not text, and the fix; None for any other."""
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _in_zip(content)
    if content[:1] == b"\x80" and content[1:2] in b"\x02\x03\x04\x05" and content.rstrip(b"\n").endswith(b"."):
        return gettext_lazy("a Python pickle, which is never opened here"), TABLE
    if content[257:262] == b"ustar":
        return gettext_lazy("a tar archive"), UNPACK
    start = content.removeprefix(codecs.BOM_UTF8)[:64].lstrip()
    return next(
        (
            (kind, fix)
            for first, kind, fix in KINDS
            if start.startswith(first) or (first[:1] == b"<" and start.lower().startswith(first.lower()))
        ),
        None,
    )


def _in_zip(content: bytes) -> tuple[str, str]:
    """Return the kind of a file that is a zip archive, and the fix."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        names = set()
    return next(((kind, fix) for name, kind, fix in IN_ZIP if name in names), (gettext_lazy("a zip archive"), UNPACK))
