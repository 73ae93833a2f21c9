"""Text tokenised once into memory-mapped arrays, and read back from them.

A corpus is a folder: ``pieces.bin`` (the ids of all pieces in a row), ``sentences.bin`` (where each sentence starts in
them, and the end), ``documents.bin`` (which sentence each document starts with, and the end), ``counts.npy`` (how often
each id occurs), ``names.txt`` (one document a line) and ``corpus.json``. Writing and reading take the same memory for
ten documents and for ten million, but for the sentence being read.
"""

from __future__ import annotations

import itertools
import json
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
from inference.files.checksums import sha256
from training.sentences import sentences

BATCH = 64  # documents tokenised at a time
UNSAID: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class TokenCorpus:
    """Tokenised text; every array is memory-mapped and read-only."""

    pieces: NDArray[np.unsignedinteger]  # (piece,) uint16 or uint32: ids, without special tokens
    sentences: NDArray[np.int64]  # (sentence + 1,) the first piece of each, and the number of pieces
    documents: NDArray[np.int64]  # (document + 1,) the first sentence of each, and the number of sentences
    counts: NDArray[np.int64]  # (vocabulary,) how often each id occurs

    def document_of(self, sentence: NDArray[np.int64]) -> NDArray[np.int64]:
        """The document that each of these sentences belongs to."""
        return np.searchsorted(self.documents, sentence, side="right") - 1


def tokenizer(file: Path) -> Tokenizer:
    """The tokenizer of a tokenizer.json, with truncation and padding switched off, whatever the file says."""
    loaded = Tokenizer.from_file(str(file))
    loaded.no_truncation()
    loaded.no_padding()
    return loaded


def write(
    documents: Iterable[tuple[str, str]], tokenizer_file: Path, folder: Path, made_of: Mapping[str, Any] = UNSAID
) -> None:
    """Tokenises (name, text) documents into a corpus folder, which appears whole or not at all.

    ``made_of`` says where they come from, for a later run to compare. Raises Refusal where no document has a piece.
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
    """Each document's name and the ids of its sentences; sentences and documents without a piece are left out."""
    remaining = iter(documents)
    while batch := list(itertools.islice(remaining, BATCH)):
        split = [list(sentences(text)) for _, text in batch]
        flat = encoder.encode_batch_fast(list(itertools.chain.from_iterable(split)), add_special_tokens=False)
        ids = iter([encoding.ids for encoding in flat])
        for (name, _), parts in zip(batch, split, strict=True):
            if encoded := [piece for piece in itertools.islice(ids, len(parts)) if piece]:
                yield name, encoded


def facts(folder: Path) -> dict[str, Any]:
    """How many pieces, sentences and documents a corpus folder holds, its tokenizer's SHA-256, and what it is of."""
    found: dict[str, Any] = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
    return found


def read(folder: Path) -> TokenCorpus:
    """Opens a corpus folder without reading its arrays into memory."""
    return TokenCorpus(
        pieces=np.memmap(folder / "pieces.bin", str(facts(folder)["dtype"]), "r"),
        sentences=np.memmap(folder / "sentences.bin", np.int64, "r"),
        documents=np.memmap(folder / "documents.bin", np.int64, "r"),
        counts=np.load(folder / "counts.npy"),
    )


def names(folder: Path) -> list[str]:
    """The names of a corpus folder's documents, in order."""
    return [json.loads(line) for line in (folder / "names.txt").read_text(encoding="utf-8").splitlines()]
