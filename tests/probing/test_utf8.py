"""Files that are not UTF-8 text: detection, names of formats, and remedies."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from inference.errors import UserError
from probing import alignments, formats, text_pairs
from probing.labelled.files import File
from probing.labelled.loading import TaskFiles, read_labeled, read_tagged
from probing.sentence_files import parse_table
from probing.text_files import decode_text, decoded_or_guessed
from tests.support.cases import loop_over
from ui.input.text_files import decode_table
from ui.pages.next_sentence import pairs_table


def zipped(name: str) -> bytes:
    """Return a zip archive that contains a file of this name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, "text")
    return out.getvalue()


KINDS = (
    (gzip.compress(b"text", mtime=0), "gzip, not text. Unpack it"),
    (bz2.compress(b"text"), "bzip2, not text. Unpack it"),
    (lzma.compress(b"text"), "xz, not text. Unpack it"),
    (zipped("a.csv"), "zip, not text. Unpack it"),
    (b"PK\x03\x04broken", "zip, not"),
    (zipped("xl/workbook.xml"), "XLSX.*, not text. Save it"),
    (zipped("word/document.xml"), "DOCX"),
    (zipped("content.xml"), "OpenDocument"),
    (b"PAR1\x15\x04", "Parquet"),
    (b"ARROW1\0\0", "Arrow"),
    (b"SQLite format 3\0", "SQLite"),
    (pickle.dumps({"text": "a"}), "pickle"),
    (b"%PDF-1.7\n", "PDF"),
    (b"7z\xbc\xaf\x27\x1c\0\4", "7z, not text. Unpack it"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", "Office"),
    (b"a.csv".ljust(257, b"\0") + b"ustar\x0000", "tar, not"),
    (b"\n<HTML><body>", "HTML, not"),
    (b"\xef\xbb\xbf<!DOCTYPE html>", "HTML, not"),
    (b'<?xml version="1.0"?><a/>', "XML, not"),
    (b"\x89PNG\r\n\x1a\n\0\0", "PNG"),
    (b"<!doctype html><title>x</title>", "HTML, not text. Download"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS"),
)
READERS: tuple[Callable[[bytes], object], ...] = (
    decode_text,
    alignments.parse,
    text_pairs.parse,
    pairs_table.parse,
    *(lambda content, name=name: formats.parse(content, name) for name in formats.FORMATS),
    lambda content: parse_table(decode_table(content)),
    lambda content: read_labeled(TaskFiles(File("a.csv", content))),
    lambda content: read_tagged(TaskFiles(File("a.conll", content))),
)


@loop_over(("content", "said"), KINDS, ids=[said[:20] for _, said in KINDS])
def test_each_reader_names_the_kind_of_file(content: bytes, said: str) -> None:
    for reader in READERS:
        with pytest.raises(UserError, match=said):
            reader(content)


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_with_a_mark_is_read(coding: str) -> None:
    assert decode_text("文本 déjà\n".encode(coding)) == "文本 déjà\n"


WESTERN = "v1,v2,,,\n" + "".join(
    f'{"ham" if at % 3 else "spam"},"Only £{at}… I’m at the café",,,\n' for at in range(60)
)
OTHERS = {
    "cp1251": "Сегодня очень холодно, и мы остались дома до вечера.",
    "gb18030": "今天天气很冷，我们整天都留在家里看书喝茶。",
    "shift_jis": "今日はとても寒いので、私たちは家で本を読みました。",
}


def test_a_western_encoding_is_guessed_and_stated() -> None:
    read = read_labeled(TaskFiles(File("sms.csv", WESTERN.encode("cp1252"))))
    assert any(row.text == "Only £7… I’m at the café" for row in read.labels.train)
    assert "sms.csv was read as cp1252, not UTF-8. Check its letters." in read.notes
    assert not any("read as" in said for said in read_labeled(TaskFiles(File("sms.csv", WESTERN.encode()))).notes)


@pytest.mark.parametrize("coding", OTHERS)
def test_encodings_of_other_scripts_are_guessed(coding: str) -> None:
    text = "".join(f"{OTHERS[coding]}\t{at % 2}\n" for at in range(40))
    assert decoded_or_guessed(text.encode(coding))[0] == text


BAD = (b"\xe9", b"\xff", b"\xe4\xb8", b"\x80")


@loop_over(
    ("row", "bad"),
    [
        *(
            (row, bad)
            for row in ("Il fait très froid.\n", "文本\n")
            for bad in (b"\xe9", b"\xff", b"\xe4\xb8", b"\x80")
        ),
        *(("Plain.\n", bad) for bad in (b"\xff", b"\xe4\xb8", b"\x80", b"\xc3")),
    ],
)
def test_utf8_with_a_bad_byte_is_refused_with_its_line(row: str, bad: bytes) -> None:
    content = (row * 20).encode() + b"a" + bad + b"\n" + row.encode()
    with pytest.raises(UserError, match=r"Line 21 .*UTF-8"):
        decoded_or_guessed(content)


@loop_over("word", ["BZhang", "PAR1", "ARROW1", "Gif8", "fea1", "PKs"])
def test_words_like_the_starts_of_files_are_text(word: str) -> None:
    text = f"{word},text\n"
    assert decode_text(text.encode()) == text
    assert decoded_or_guessed(text.encode()) == (text, "")


SMALL: dict[str, tuple[Callable[[bytes], Any], str]] = {
    "pairs": (text_pairs.parse, "a,b\nIl fait froid.,Un café noir.\n"),
    "alignments": (alignments.parse, "It is café\tC’est un café\t0-0 1-1 2-2\n"),
    "next sentence": (pairs_table.parse, "a,b\nIl fait froid.,Un café noir.\n"),
    "vectors": (lambda content: parse_table(decode_table(content)).rows, "id,text\n1,Un café noir.\n"),
    "csv": (
        lambda content: formats.parse(content, "csv").items,
        "text,source,target,distractor\nLe chat voit un café noir.,voit,chat,café\n",
    ),
    "gap": (
        lambda content: formats.parse(content, "gap").items,
        "Text\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\n"
        "Zoé saw Eve when she left.\tshe\t17\tZoé\t0\tTRUE\tEve\t8\tFALSE\n",
    ),
}


@loop_over("reader", SMALL)
@loop_over("coding", ["cp1252", "utf-8-sig", "utf-16", "utf_16_le", "utf_16_be", "utf_32_le"])
def test_each_reader_reads_other_encodings(reader: str, coding: str) -> None:
    parse, text = SMALL[reader]
    read, plain = (parse(text.encode(one)) for one in (coding, "utf-8"))
    assert getattr(read, "pairs", read) == getattr(plain, "pairs", plain)


@loop_over("reader", SMALL)
@loop_over("end", ["\r", "\r\n"])
def test_each_reader_takes_other_line_ends(reader: str, end: str) -> None:
    parse, text = SMALL[reader]
    read, plain = (parse(one.encode()) for one in (text.replace("\n", end) + "\x1a", text))
    assert getattr(read, "pairs", read) == getattr(plain, "pairs", plain)


def test_conllu_in_another_encoding_is_named() -> None:
    tree = "1\tUn\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tcafé\t_\t_\t_\t_\t0\troot\t_\t_\n".encode("latin-1")
    with pytest.raises(UserError) as refused:
        formats.parse(tree, "conllu")
    assert all(part in refused.value.message for part in ("Line 2", "UTF-8", "cp1252"))
    assert formats.parse(tree, "conllu", "latin-1").items[0].text == "Un café"


@pytest.mark.parametrize("encoding", ["mac-roman", "utf-16", "utf_16_le", "utf-16-be", "utf-32"])
def test_a_named_encoding_is_read(encoding: str) -> None:
    assert decoded_or_guessed("café".encode(encoding), encoding) == ("café", "")


@pytest.mark.parametrize(
    ("content", "encoding", "said"),
    [
        (b"caf\x8e", "none", "“none” is not a known encoding"),
        (b"caf\x8e", "unicode_escape", "“unicode_escape” is not a known encoding"),
        (b"a\ncaf\x8e", "ascii", "Line 2 is not ascii text. Name another encoding"),
        (gzip.compress(b"text", mtime=0), "latin-1", "gzip"),
    ],
)
def test_a_named_encoding_that_does_not_fit_is_refused(content: bytes, encoding: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        decoded_or_guessed(content, encoding)


def test_a_single_accent_in_latin_1_is_read_and_stated() -> None:
    rows = "".join(f"Plain row number {at},{at % 2}\n" for at in range(40)) + "Un café noir,1\n"
    read = read_labeled(TaskFiles(File("a.csv", ("text,label\n" + rows).encode("latin-1"))))
    texts = [row.text for part in ("train", "dev", "test") for row in getattr(read.labels, part)]
    assert "Un café noir" in texts
    assert "a.csv was read as cp1252, not UTF-8. Check its letters." in read.notes
    named = read_labeled(TaskFiles(File("a.csv", ("text,label\n" + rows).encode("mac_roman"), "mac_roman")))
    assert named.labels == read.labels
