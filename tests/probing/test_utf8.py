"""Files that are not text are named, with the fix."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import zipfile
from collections.abc import Callable

import pytest

from inference.errors import Refusal
from probing import alignments, formats, text_pairs
from probing.labelled.files import File
from probing.labelled.reading import Files, classified, tagged
from probing.utf8 import decoded, decoded_or_guessed
from ui.pages.next_sentence import pairs_table


def zipped(name: str) -> bytes:
    """A zip archive that contains a file of this name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, "text")
    return out.getvalue()


KINDS = (
    (gzip.compress(b"text"), "a gzip archive, not text. Unpack it"),
    (bz2.compress(b"text"), "a bzip2 archive, not text. Unpack it"),
    (lzma.compress(b"text"), "an xz archive, not text. Unpack it"),
    (zipped("a.csv"), "a zip archive, not text. Unpack it"),
    (b"PK\x03\x04broken", "a zip archive"),
    (zipped("xl/workbook.xml"), "an Excel workbook, not text. Save the sheet as CSV"),
    (zipped("word/document.xml"), "a DOCX document"),
    (zipped("content.xml"), "an OpenDocument file"),
    (b"PAR1\x15\x04", "a Parquet file"),
    (b"ARROW1\0\0", "an Arrow or Feather file"),
    (b"SQLite format 3\0", "an SQLite database"),
    (pickle.dumps({"text": "a"}), "a Python pickle, which is never opened here"),
    (b"%PDF-1.7\n", "a PDF document"),
    (b"\x89PNG\r\n\x1a\n\0\0", "a picture"),
    (b"<!doctype html><title>x</title>", "a web page, not text. Download the raw file"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer"),
)
READERS: tuple[Callable[[bytes], object], ...] = (
    decoded,
    alignments.parse,
    text_pairs.parse,
    pairs_table.parse,
    *(lambda content, name=name: formats.parse(content, name) for name in formats.FORMATS),
    lambda content: classified(Files(File("a.csv", content))),
    lambda content: tagged(Files(File("a.conll", content))),
)


@pytest.mark.parametrize(("content", "said"), KINDS, ids=[said[:20] for _, said in KINDS])
def test_each_reader_names_the_kind_of_file(content: bytes, said: str) -> None:
    for reader in READERS:
        with pytest.raises(Refusal, match=said):
            reader(content)


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_with_a_mark_is_read(coding: str) -> None:
    assert decoded("文本 déjà\n".encode(coding)) == "文本 déjà\n"


WESTERN = "v1,v2,,,\n" + "".join(
    f'{"ham" if at % 3 else "spam"},"Only £{at}… I’m at the café",,,\n' for at in range(60)
)
OTHERS = {
    "cp1251": "Сегодня очень холодно, и мы остались дома до вечера.",
    "gb18030": "今天天气很冷，我们整天都留在家里看书喝茶。",
    "shift_jis": "今日はとても寒いので、私たちは家で本を読みました。",
}


def test_a_western_encoding_is_guessed_and_stated() -> None:
    read = classified(Files(File("sms.csv", WESTERN.encode("cp1252"))))
    assert any(row.text == "Only £7… I’m at the café" for row in read.labels.train)
    assert "sms.csv is not UTF-8; it was read as cp1252. Check that its letters are right." in read.told
    assert not any("read as" in said for said in classified(Files(File("sms.csv", WESTERN.encode()))).told)


@pytest.mark.parametrize("coding", OTHERS)
def test_encodings_of_other_scripts_are_guessed(coding: str) -> None:
    text = "".join(f"{OTHERS[coding]}\t{at % 2}\n" for at in range(40))
    assert decoded_or_guessed(text.encode(coding))[0] == text


@pytest.mark.parametrize("bad", [b"\xe9", b"\xff", b"\xe4\xb8", b"\x80"])
@pytest.mark.parametrize("row", ["Il fait très froid.\n", "文本\n", "Plain.\n"])
def test_utf8_with_a_bad_byte_is_refused_with_its_line(bad: bytes, row: str) -> None:
    content = (row * 20).encode() + b"a" + bad + b"\n" + row.encode()
    with pytest.raises(Refusal, match="Line 21 is not UTF-8 text"):
        decoded_or_guessed(content)
