"""Decoding of text files in UTF-8 or a guessed encoding, of Parquet, and detection of files that are not text."""

from __future__ import annotations

import codecs
import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from i18n import gettext_lazy
from inference.errors import UserError

LEAST_FOR_STATISTICS, SAMPLED = 100, 50_000  # bytes that charset-normalizer needs at least; bytes that are sampled
FEW = 3  # undecodable characters below which only cp1252 is considered
VARIED = 8  # distinct non-ASCII bytes below which the statistical guess is the last candidate
MOST_ODD = 0.1  # maximal share of non-ASCII characters that look wrong
MOST_ACCENTS = 0.15  # maximal share of non-ASCII bytes in Western European texts
LEAST_CONTROLS = 0.1  # minimal share of control characters in UTF-16 that is also valid UTF-8
SINGLE_BYTE = ("cp1252", "mac_roman", "cp1250", "iso8859_2", "cp850", "cp1251", "koi8_r", "mac_cyrillic", "cp866",
               "iso8859_5", "cp1253", "cp1255")  # fmt: skip
WIDE = ("utf_16_le", "utf_16_be", "utf_32_le", "utf_32_be")
OPENING, CLOSING, BETWEEN = "“‘„‚«‹¿¡£€§", "”’“»›…™®©°ºª¹²³", "’‘–—\xad·"  # punctuation by its side of a letter
EAST_ASIAN = "\u2e80"  # first East Asian character
# First and last characters of box drawing, half-width kana and private use.
DRAWN, HALF_WIDTH, PRIVATE = ("\u2500", "\u259f"), ("\uff61", "\uff9f"), ("\ue000", "\uf8ff")


def guess(content: bytes) -> str | None:
    """Return the most probable encoding of a file that is not UTF-8.

    Return None if the file is UTF-8 with a few errors, or not text.

    >>> guess("Un café noir.".encode("latin-1")), guess("Schön für die Straße".encode("mac_roman"))
    ('cp1252', 'mac_roman')
    """
    if b"\0" in content:
        return _guess_wide_encoding(content)
    replaced = content.decode("utf-8", "replace")
    wrong = replaced.count("\ufffd")
    right = len(re.findall("[^\0-\x7f\ufffd]", replaced))
    if right >= wrong:
        return None
    sample = b"".join(re.findall(rb"[^\n]*[\x80-\xff][^\n]*\n?", content))[:SAMPLED]
    statistical = _statistical_guess(sample) if wrong >= FEW else None
    candidates = SINGLE_BYTE if wrong >= FEW else SINGLE_BYTE[:1]
    if statistical is not None:
        varied = len(set(re.findall(rb"[\x80-\xff]", sample))) >= VARIED
        candidates = (statistical, *candidates) if varied else (*candidates, statistical)
    shares = {coding: share for coding in candidates if (share := _odd_shares(sample, coding)) is not None}
    best = min(shares, key=lambda coding: shares[coding], default=None)  # min returns the first candidate in a tie
    if best is not None and shares[best][0] > MOST_ODD:
        accents = len(re.findall(rb"[\x80-\xff]", content))
        best = "cp1252" if wrong >= FEW and accents < MOST_ACCENTS * len(content) else None
    if b"\xff" in content and best == "cp1252":
        return None
    if best == "cp1252" and not fits(content, best):
        return "latin_1"  # latin_1 can decode every byte
    return best if best is not None and fits(content, best) else None


def _guess_wide_encoding(content: bytes) -> str | None:
    """Return the UTF-16 or UTF-32 encoding of bytes without a byte order mark; None if they are not text.

    The byte order with most ASCII characters wins.
    """
    if fits(content, "utf-8"):
        controls = len(re.findall(rb"[\0-\x08\x0e-\x1f]", content))
        if controls < LEAST_CONTROLS * len(content):
            return None
    found: dict[str, int] = {}
    for coding in WIDE:
        if fits(content, coding):
            text = content.decode(coding)
            kinds = {unicodedata.category(letter) for letter in set(text) - set("\t\n\r\x1a")}
            if re.search("[\r\n]", text) and not kinds & {"Cc", "Cn", "Co", "Cs"}:
                found[coding] = len(re.findall("[\t\n\r -~]", text))
    return max(found, key=lambda coding: found[coding], default=None)


def _statistical_guess(sample: bytes) -> str | None:
    """Return charset-normalizer's guess if it recognises a language with a non-Latin script, else None."""
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best() if len(sample) >= LEAST_FOR_STATISTICS else None
    if best is None or best.language == "Unknown":
        return None
    scripts = [_script(letter) for letter in str(best) if letter > "\x7f" and letter.isalpha()]
    return best.encoding if 2 * scripts.count("LATIN") < len(scripts) else None


def fits(content: bytes, coding: str) -> bool:
    """Return True if the encoding ``coding`` can decode all bytes of a file."""
    try:
        content.decode(coding)
    except UnicodeDecodeError:
        return False
    return True


def _odd_shares(sample: bytes, coding: str) -> tuple[float, float] | None:
    """Return the shares of odd-looking characters and of runs of accented Latin letters.

    Both are shares of the non-ASCII characters. Return None if there are no such characters.
    """
    text = sample.decode(coding, "replace")
    padded = f" {text} "
    odd = [_is_odd(*padded[at : at + 3]) for at, letter in enumerate(text) if letter > "\x7f"]
    row = sum(map(len, re.findall("[\xc0-\u024f]{3,}", text)))
    return (round(sum(odd) / len(odd), 2), round(row / len(odd), 1)) if odd else None


def _is_odd(before: str, letter: str, after: str) -> bool:
    """Return True if a character looks wrong between its neighbours.

    >>> _is_odd("f", "é", " "), _is_odd("f", "Ž", " "), _is_odd("n", "¿", "o"), _is_odd("h", "д", "t")
    (False, True, True, True)
    """
    if letter >= EAST_ASIAN or DRAWN[0] <= letter <= DRAWN[1]:
        return letter == "\ufffd" or any(low <= letter <= high for low, high in (DRAWN, HALF_WIDTH, PRIVATE))
    if unicodedata.category(letter) in ("Lu", "Ll", "Lt", "Lm", "Lo") and letter not in CLOSING:
        neighbours = [other for other in (before, after) if other.isalpha()]
        if not neighbours:
            return before.isdigit() or after.isdigit()
        return (letter.isupper() and before.islower()) or any(_script(letter) != _script(n) for n in neighbours)
    if letter == "\xa0":
        return before.isspace() or after.isspace()
    left = before.isalpha() and letter not in CLOSING + BETWEEN
    right = after.isalpha() and letter not in OPENING + BETWEEN
    return left or right or unicodedata.category(letter) == "Cc"


def _script(letter: str) -> str:
    """Return the script of a letter, which is the first word of its Unicode name, such as LATIN."""
    return unicodedata.name(letter, "NONE").split()[0]


# The magic number and the first byte of a Thrift structure, so that text with "PAR1" does not match.
START = b"PAR1\x15"
MOST_BYTES = 500_000_000  # maximal uncompressed bytes of a table
BATCH = 10_000  # rows per batch


def json_lines(content: bytes) -> str:
    """Convert a Parquet file to JSON Lines; raise UserError if it is damaged or too large.

    Class numbers are replaced by class names if the Hugging Face metadata lists them. Columns of bytes, such as
    pictures, are omitted.
    """
    import pyarrow as pa  # imported lazily: it takes 0.3 s and only Parquet files need it
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        size = sum(file.metadata.row_group(at).total_byte_size for at in range(file.metadata.num_row_groups))
        if size > MOST_BYTES:
            raise UserError(
                gettext_lazy(
                    "The unpacked Parquet file has {size:,.0f} MB; the limit is {most:,.0f}. Shorten it.",
                    size=size / 1e6,
                    most=MOST_BYTES / 1e6,
                )
            )
        columns = [field.name for field in file.schema_arrow if not _holds_bytes(field.type)]
        names = _class_names(file.schema_arrow.metadata or {})
        rows = (row for batch in file.iter_batches(BATCH, columns=columns) for row in batch.to_pylist())
        return "".join(
            json.dumps(
                {key: _decode_labels(value, names.get(key, ())) for key, value in row.items()},
                ensure_ascii=False,
                default=str,
            )
            + "\n"
            for row in rows
        )
    except UserError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise UserError(gettext_lazy("The Parquet file is damaged or encrypted. Save it as CSV.")) from error


def _holds_bytes(kind: Any) -> bool:
    """Return True if a column type is binary or contains a binary type."""
    if any(kind.field(at).name and _holds_bytes(kind.field(at).type) for at in range(kind.num_fields)):
        return True
    return "binary" in str(kind)


def _class_names(metadata: Mapping[bytes, bytes]) -> dict[str, Sequence[str]]:
    """Return the class names of each ClassLabel column in the Hugging Face metadata."""
    found: dict[str, Sequence[str]] = {}
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        for column, feature in features.items():
            inner = feature.get("feature", feature)
            names = inner.get("names", ())
            if inner.get("_type") == "ClassLabel" and all(isinstance(name, str) for name in names):
                found[column] = names
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError):
        return {}
    return found


def _decode_labels(value: Any, names: Sequence[str]) -> Any:
    """Replace a class number, or each number of a list, by its name; return other values as they are."""
    if isinstance(value, list):
        return [_decode_labels(entry, names) for entry in value]
    return names[value] if type(value) is int and 0 <= value < len(names) else value


NOT_FOR_FILES = {"unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined", "mbcs", "oem"}
READABLE = {".csv", ".tsv", ".txt", ".jsonl", ".json", ".parquet", ".conll", ".conllu", ".iob2", ".bio", ".iob"}
MOST_LISTED, SHOWN = 1_000, 3  # paths of a folder that are examined, and that are named in the message
JOINED = re.compile(r"^\ufeff(?=\S)", re.MULTILINE)
EXCEL_SEPARATOR = re.compile(r"\A\"?sep=[,;|\t]\"?\n", re.IGNORECASE)
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # precedes UTF-16, because its mark begins with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
UNPACK = gettext_lazy("Unpack it; choose a file inside.")
SAVE = gettext_lazy("Save it as CSV.")
KINDS: tuple[tuple[bytes, str, str], ...] = (  # (first bytes, kind, remedy)
    (b"\x1f\x8b", "gzip", UNPACK),
    (b"BZh91AY&SY", "bzip2", UNPACK),
    (b"\xfd7zXZ\0", "xz", UNPACK),
    (b"\x28\xb5\x2f\xfd", "Zstandard", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "7z", UNPACK),
    (b"Rar!\x1a\x07", "RAR", UNPACK),
    (START, "Parquet", SAVE),
    (b"ARROW1\0", "Arrow", SAVE),
    (b"FEA1", "Arrow", SAVE),
    (b"\xff\xff\xff\xff", "Arrow", SAVE),
    (b"SQLite format 3\0", "SQLite", SAVE),
    (b"\x89HDF\r\n\x1a\n", "HDF5", SAVE),
    (b"\x93NUMPY", "NumPy", SAVE),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office (XLS, DOC)", SAVE),
    (b"%PDF-", "PDF", SAVE),
    (b"{\\rtf", "RTF", SAVE),
    (b"\x89PNG", "PNG", SAVE),
    (b"\xff\xd8\xff", "JPEG", SAVE),
    (b"GIF87a", "GIF", SAVE),
    (b"GIF89a", "GIF", SAVE),
    (b"<!DOCTYPE html", "HTML", gettext_lazy("Download the raw file.")),
    (b"<html", "HTML", gettext_lazy("Download the raw file.")),
    (b"<?xml", "XML", SAVE),
    (
        b"version https://git-lfs",
        "Git LFS",
        gettext_lazy("Fetch the file with git lfs pull."),
    ),
)
IN_ZIP = (  # (member of the archive, kind, remedy)
    ("xl/workbook.xml", "Excel (XLSX)", gettext_lazy("Save it as CSV.")),
    ("word/document.xml", "DOCX", SAVE),
    ("ppt/presentation.xml", "PowerPoint (PPTX)", SAVE),
    ("content.xml", "OpenDocument", SAVE),
)


def decode_text(content: bytes) -> str:
    """Decode a file in UTF-8, or in UTF-16 or UTF-32 with a byte order mark; raise UserError otherwise.

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
    """Return the text of a table file, and its guessed encoding, "" if none was guessed.

    If ``encoding`` is given, no encoding is guessed. A Parquet file is converted to JSON Lines. Line ends become "\\n".
    An end-of-file mark (U+001A) and Excel's line "sep=;" are removed. May raise UserError.

    >>> decoded_or_guessed("L'été à Paris est très chaud.".encode("cp1252"))
    ("L'été à Paris est très chaud.", 'cp1252')
    """
    if content.startswith(START):
        return json_lines(content), ""
    guessed = ""
    if encoding:
        text = _in_encoding(content, encoding)
    elif guessed := guessed_encoding(content):
        text = content.decode(guessed)
    else:
        text = decode_text(content)
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").rstrip("\x1a")
    refuse_zero_bytes(text)
    refuse_joined(text)
    return EXCEL_SEPARATOR.sub("\n", text, count=1), guessed


def refuse_zero_bytes(text: str) -> None:
    """Raise UserError if a text contains zero bytes, as binary files do."""
    if "\0" in text:
        raise UserError(
            gettext_lazy(
                "The file is {kind}, not text. {fix}", kind=gettext_lazy("binary"), fix=gettext_lazy("Save it as CSV.")
            )
        )


def refuse_joined(text: str) -> None:
    """Raise UserError if a line begins with a byte order mark before a letter, as in concatenated files.

    A mark before a space or a tab is allowed: it is an invisible word of a table of words.
    """
    if (found := JOINED.search(text)) is not None:
        raise UserError(
            gettext_lazy(
                "Line {line} begins with a byte order mark (U+FEFF). Remove it.",
                line=text.count("\n", 0, found.start()) + 1,
            )
        )


def guessed_encoding(content: bytes) -> str:
    """Return the guessed encoding of a text file; "" if it is Unicode, Parquet or not recognised as text.

    >>> guessed_encoding("déjà".encode()), guessed_encoding("déjà vu".encode("latin-1"))
    ('', 'cp1252')
    """
    return "" if needs_no_guess(content) else guess(content) or ""


def needs_no_guess(content: bytes) -> bool:
    """Return True if the encoding need not be guessed, because the file is Unicode, Parquet or not text."""
    if content.startswith((START, *(mark for mark, _ in MARKS))) or _detect_kind(content) is not None:
        return True
    return b"\0" not in content and fits(content, "utf-8")


def first_damage(content: bytes) -> int:
    """Return the index of the first byte that is zero or invalid UTF-8, or the number of bytes.

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
    """Return the message that the encoding of a file was guessed."""
    return gettext_lazy(
        "{name} was read as {encoding}, not UTF-8. Check its letters.",
        name=name,
        encoding=encoding,
    )


def _in_encoding(content: bytes, encoding: str) -> str:
    """Decode a file in the named encoding; raise UserError if the name is unknown or the bytes do not fit."""
    _refuse_kind(content)
    coding = _python_name(encoding)
    if coding is None:
        raise UserError(
            gettext_lazy(
                "“{encoding}” is not a known encoding, such as utf-8, cp1252 or gb18030.",
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
    """Return Python's name of a text encoding; None if it is unknown.

    >>> _python_name("Latin-1"), _python_name("utf-16"), _python_name("rot13"), _python_name("none")
    ('iso8859-1', 'utf-16', None, None)
    """
    try:
        "a".encode(encoding)
        found = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return None
    return None if found.replace("_", "-") in NOT_FOR_FILES else found


@contextmanager
def explain_unreadable(path: Path) -> Iterator[None]:
    """Inside the block, raise UserError instead of OSError: the file ``path`` is missing or cannot be opened."""
    try:
        yield
    except OSError as error:
        reason = (
            gettext_lazy("no such file")
            if isinstance(error, FileNotFoundError)
            else gettext_lazy("it cannot be opened")
        )
        raise UserError(
            gettext_lazy("{file} cannot be read: {reason}. Give another path.", file=path, reason=reason)
        ) from error


def refuse_folder(path: Path) -> None:
    """Raise UserError if a path is a folder; the message suggests files in it."""
    if not path.is_dir():
        return
    paths = sorted(islice(path.rglob("*"), MOST_LISTED))
    readable = [str(file.relative_to(path)) for file in paths if file.suffix.lower() in READABLE and file.is_file()]
    if readable:
        fix = gettext_lazy("Give a file in it: {files}.", files=", ".join(readable[:SHOWN]))
    elif any(file.suffix == ".arrow" for file in paths):
        fix = gettext_lazy("It is a data set in Arrow format. Save it with to_parquet.")
    else:
        fix = gettext_lazy("Give a file: CSV, JSON Lines or Parquet.")
    raise UserError(gettext_lazy("{path} is a folder. {fix}", path=path, fix=fix))


def _refuse_kind(content: bytes) -> None:
    """Raise UserError if the first bytes identify a file type that is not text."""
    if (found := _detect_kind(content)) is not None:
        kind, fix = found
        raise UserError(gettext_lazy("The file is {kind}, not text. {fix}", kind=kind, fix=fix))


def _detect_kind(content: bytes) -> tuple[str, str] | None:
    """Return the kind of a file that is not text, and a remedy; None for other files."""
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _in_zip(content)
    if content[:1] == b"\x80" and content[1:2] in b"\x02\x03\x04\x05" and content.rstrip(b"\n").endswith(b"."):
        return "pickle", SAVE
    if content[257:262] == b"ustar":
        return "tar", UNPACK
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
    """Return the kind of a zip archive, and a remedy."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        names = set()
    return next(((kind, fix) for name, kind, fix in IN_ZIP if name in names), ("zip", UNPACK))
