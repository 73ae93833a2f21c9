"""The files with which a browser runs a BERT: its graph, the rows of its embedding table, and its tokenizer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attention.codec import decode
from attention.similarity import FIRST, LAST, MEAN
from inference.browser.bert_graph import NO_BERT, TABLE, BertSizes, Weights, attention_graph, masked_graph, sizes_of
from inference.browser.onnx_writer import shorten
from inference.errors import UserError
from inference.files.checkpoint import WEIGHTS, read_config
from inference.files.sources import find
from inference.settings import Settings

ROWS = 64  # rows of the embedding table in a file; a text needs few, and plain servers send whole files only
POOLINGS = (MEAN, FIRST, LAST)


@dataclass(frozen=True, eq=False)
class BrowserModel:
    """The files with which a browser runs a model: graph, embedding table and tokenizer."""

    name: str
    sizes: BertSizes
    graph: bytes  # an ONNX file
    rows: tuple[bytes, ...]  # ROWS rows of the embedding table each
    tokenizer: bytes  # tokenizer.json without truncation and padding
    pooling: str | None  # of the last states to the vector of a text; None for other kinds than POOLINGS


def export_encoder(name: str, revision: str | None, settings: Settings) -> BrowserModel:
    """Return the files with which a browser computes an encoder's attention.

    Raise UserError if the model is not a plain BERT.
    """
    folder = find(name, revision, settings).folder
    config = read_config(folder / "config.json", name)
    sizes, weights = sizes_of(config), bert_weights(folder)
    graph, rows = attention_graph(config, weights), row_files(weights)
    return BrowserModel(name, sizes, graph, rows, tokenizer_file(folder), _pooling(folder))


def export_masked(name: str, settings: Settings) -> tuple[bytes, bytes]:
    """Return the ONNX graph of a BERT for masked words, and its tokenizer.

    Raise UserError if the model is not a plain BERT.
    """
    folder = find(name, None, settings).folder
    config = read_config(folder / "config.json", name)
    return masked_graph(config, bert_weights(folder)), tokenizer_file(folder)


def _pooling(folder: Path) -> str | None:
    from inference.runners.similarity import stated_pooling  # imports torch

    try:
        found = stated_pooling(folder)
    except UserError:
        return None
    return found if found in POOLINGS else None


def bert_weights(folder: Path) -> Weights:
    """Return the weights of a BERT by their names in transformers' BertModel.

    Raise UserError if they cannot be read.
    """
    try:
        found = decode((folder / WEIGHTS).read_bytes())[1]
    except (OSError, ValueError, KeyError) as error:
        raise UserError(NO_BERT) from error
    return {name.removeprefix("bert."): array for name, array in found.items()}


def row_files(weights: Weights) -> tuple[bytes, ...]:
    """Return the rows of the embedding table as files of ROWS rows each.

    A file contains a float32 scale for each row, then the rows as int16. An entry of the table is its integer times the
    scale of its row.

    >>> import numpy as np
    >>> [len(file) for file in row_files({TABLE: np.ones((ROWS + 1, 8), np.float32)})]
    [1280, 20]
    """
    coded, scale = shorten(weights[TABLE], 1)
    parts = [slice(at, at + ROWS) for at in range(0, len(coded), ROWS)]
    return tuple(scale[part].tobytes() + coded[part].tobytes() for part in parts)


def tokenizer_file(folder: Path) -> bytes:
    """Return the model's tokenizer.json without its truncation and padding, which the page does itself."""
    try:
        found: Mapping[str, Any] = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(NO_BERT) from error
    if found.get("model", {}).get("type") != "WordPiece":
        raise UserError(NO_BERT)
    plain = {**found, "truncation": None, "padding": None}
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()
