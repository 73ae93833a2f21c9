"""Tokenised corpora in memory-mapped arrays, built from documents in folders and files."""

from __future__ import annotations

import hashlib
import itertools
import json
import lzma
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from inference.errors import UserError
from inference.files.packages import sha256

SUFFIXES = (".txt", ".jsonl", ".jsonl.xz")


def documents(source: Path) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of every document: a ``.txt`` file, or a line of a JSON Lines file.

    JSON Lines files end in ``.jsonl`` or ``.jsonl.xz``. A line is a JSON object with ``text`` and an optional
    ``id``. Names are unique within a source: the file's relative path, followed by the id or the line number for
    lines. Raise UserError if there is no text or if a line is malformed.
    """
    if not source.exists():
        raise UserError(f"There is no text at {source}. Name a folder, or a .txt, .jsonl or .jsonl.xz file.")
    files = sorted(file for file in source.rglob("*") if file.is_file()) if source.is_dir() else [source]
    texts = [file for file in files if file.name.endswith(SUFFIXES)]
    if not texts:
        raise UserError(f"{source} holds no .txt, .jsonl or .jsonl.xz file.")
    for file in texts:
        place = file.relative_to(source).as_posix() if source.is_dir() else file.name
        if file.suffix == ".txt":
            yield place, file.read_text(encoding="utf-8")
        else:
            yield from _lines(file, place)


def _lines(file: Path, place: str) -> Iterator[tuple[str, str]]:
    unpacked = lzma.open if file.suffix == ".xz" else open
    with unpacked(file, "rt", encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                row = json.loads(line)
                name, text = f"{place}#{row.get('id', number)}", row["text"]
            except (ValueError, AttributeError, KeyError) as error:
                raise UserError(f'Line {number} of {place} is not a JSON object with "text".') from error
            if not isinstance(text, str):
                raise UserError(f'Line {number} of {place}: "text" is not a string.')
            yield name, text


def held_out(name: str, share: float) -> bool:
    """Return True if the document ``name`` is held out for evaluation.

    A hash of the name decides, so that about ``share`` of all documents are held out.

    >>> sum(held_out(f"wiki#{number}", 0.25) for number in range(1000))
    251
    """
    drawn = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") / 2**64
    return drawn < share


# Punctuation that ends a sentence, closing quotes or brackets, white space, then the start of a new sentence.
_END = re.compile(r"""(?<=[.!?])["'”’)\]]*\s+(?=["'“‘(\[]*[A-Z0-9])""")
# Abbreviations whose full stop does not end a sentence: titles, Latin, months and single initials.
_NOT_AN_END = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Prof|Rev|Gen|Col|Lt|Sgt|Capt|Gov|Sen|Rep|Hon|No|Vol|pp?|ca?|cf|vs|etc|e\.g|i\.e|al"
    r"|Inc|Ltd|Co|Corp|Bros|approx|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)|\b[A-Z])\.$"
)


def sentences(text: str) -> Iterator[str]:
    """Yield the stripped sentences of a text in order; a line break always ends a sentence.

    >>> list(sentences("Dr. Ames slept. Why? Nobody asked J. Bell.\\nThe end"))
    ['Dr. Ames slept.', 'Why?', 'Nobody asked J. Bell.', 'The end']
    """
    for line in text.splitlines():
        start = 0
        for gap in _END.finditer(line):
            if not _NOT_AN_END.search(line, start, gap.start()):
                yield line[start : gap.end()].strip()
                start = gap.end()
        if rest := line[start:].strip():
            yield rest


BATCH = 64  # documents per call of the tokenizer
UNSAID: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class TokenCorpus:
    """A tokenised corpus in memory-mapped arrays: token ids, and the starts of sentences and documents."""

    pieces: NDArray[np.unsignedinteger]  # (token,) uint16 or uint32: ids without special tokens
    sentences: NDArray[np.int64]  # (sentence + 1,) the first token of each sentence, then the number of tokens
    documents: NDArray[np.int64]  # (document + 1,) the first sentence of each document, then the number of sentences
    counts: NDArray[np.int64]  # (vocabulary,) the frequency of each id

    def document_of(self, sentence: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index of the document that contains each sentence."""
        return np.searchsorted(self.documents, sentence, side="right") - 1


def tokenizer(file: Path) -> Tokenizer:
    """Load a tokenizer.json with truncation and padding switched off."""
    loaded = Tokenizer.from_file(str(file))
    loaded.no_truncation()
    loaded.no_padding()
    return loaded


def write(
    documents: Iterable[tuple[str, str]], tokenizer_file: Path, folder: Path, made_of: Mapping[str, Any] = UNSAID
) -> None:
    """Tokenise documents, given as (name, text), and write them to a corpus folder.

    The folder appears only when it is complete. ``made_of`` describes the origin of the documents; a later run compares
    it by ``check_origin``. Raise UserError if no document has a token.
    """
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    encoder = tokenizer(tokenizer_file)
    size = encoder.get_vocab_size()
    dtype = np.dtype(np.uint16 if size <= 2**16 else np.uint32)
    counts = np.zeros(size, np.int64)
    totals = {"pieces": 0, "sentences": 0, "documents": 0}
    with (
        (partial / "pieces.bin").open("wb") as pieces,
        (partial / "sentences.bin").open("wb") as starts,
        (partial / "documents.bin").open("wb") as firsts,
        (partial / "names.txt").open("w", encoding="utf-8") as names,
    ):
        for name, encoded in _encode_documents(documents, encoder):
            lengths = np.array([len(ids) for ids in encoded], np.int64)
            ids = np.array(list(itertools.chain.from_iterable(encoded)), dtype)
            firsts.write(np.int64(totals["sentences"]).tobytes())
            starts.write((totals["pieces"] + np.cumsum(lengths) - lengths).tobytes())
            pieces.write(ids.tobytes())
            names.write(json.dumps(name, ensure_ascii=False) + "\n")
            counts += np.bincount(ids, minlength=size)
            totals["pieces"] += len(ids)
            totals["sentences"] += len(encoded)
            totals["documents"] += 1
        if not totals["documents"]:
            raise UserError(f"No document is left for {folder}. Change [data] held_out or bring more of them.")
        starts.write(np.int64(totals["pieces"]).tobytes())
        firsts.write(np.int64(totals["sentences"]).tobytes())
    np.save(partial / "counts.npy", counts)
    meta = {**made_of, **totals, "dtype": dtype.name, "tokenizer": sha256(tokenizer_file)}
    (partial / "corpus.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def _encode_documents(
    documents: Iterable[tuple[str, str]], encoder: Tokenizer
) -> Iterator[tuple[str, list[list[int]]]]:
    """Yield the name of each document and the token ids of its sentences.

    Sentences and documents without tokens are left out.
    """
    remaining = iter(documents)
    while batch := list(itertools.islice(remaining, BATCH)):
        split = [list(sentences(text)) for _, text in batch]
        flat = encoder.encode_batch_fast(list(itertools.chain.from_iterable(split)), add_special_tokens=False)
        ids = iter([encoding.ids for encoding in flat])
        for (name, _), parts in zip(batch, split, strict=True):
            if encoded := [piece for piece in itertools.islice(ids, len(parts)) if piece]:
                yield name, encoded


def facts(folder: Path) -> dict[str, Any]:
    """Return the metadata of a corpus folder: its counts, the origin of its texts, and its tokenizer's SHA-256."""
    found: dict[str, Any] = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
    return found


def read(folder: Path) -> TokenCorpus:
    """Open a corpus folder as memory-mapped arrays."""
    return TokenCorpus(
        pieces=np.memmap(folder / "pieces.bin", str(facts(folder)["dtype"]), "r"),
        sentences=np.memmap(folder / "sentences.bin", np.int64, "r"),
        documents=np.memmap(folder / "documents.bin", np.int64, "r"),
        counts=np.load(folder / "counts.npy"),
    )


def names(folder: Path) -> list[str]:
    """Return the names of the documents in a corpus folder, in the order of the corpus."""
    return [json.loads(line) for line in (folder / "names.txt").read_text(encoding="utf-8").splitlines()]


def check_origin(stated: Mapping[str, Any], wanted: Mapping[str, Any], folder: Path) -> None:
    """Raise UserError if the stored texts of a run were made with other settings than ``wanted``.

    ``stated`` are the settings stored in ``folder``. Settings that ``stated`` lacks are ignored, so that folders of
    earlier versions can still be opened.

    >>> check_origin({"held_out": 0.02, "pieces": 9}, {"held_out": 0.02, "vocabulary": 8000}, Path("run"))
    >>> check_origin({"held_out": 0.02}, {"held_out": 0.1}, Path("run"))
    Traceback (most recent call last):
    inference.errors.UserError: What is in run was made with held_out = 0.02, not 0.1. Set it back, or name another run.
    """
    for name, value in wanted.items():
        if (before := stated.get(name, value)) != value:
            raise UserError(
                f"What is in {folder} was made with {name} = {json.dumps(before, ensure_ascii=False)}, not"
                f" {json.dumps(value, ensure_ascii=False)}. Set it back, or name another run."
            )
