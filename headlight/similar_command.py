"""The command ``headlight similar`` and the function ``similar``: the cosine similarity of two texts.

The similarity is divided among pairs of tokens.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from attention.similarity import POOLINGS
from headlight.command_input import (
    CommandError,
    add_result_options,
    deliver_result,
    open_model,
    refuse_unwritable,
    shared_backend,
    text_of,
)
from inference.backend import LocalBackend
from inference.request import EMBEDDED
from inference.tasks.hidden_states import Pooled
from inference.tasks.similarity import SimilarityRequest
from probing.sentence_files import column, is_table, lines, parse_table
from probing.sentence_search import SentenceSearch
from probing.text_files import decoded_or_guessed

SHOWN = 5  # pairs of tokens in the printed summary


def similar(a: str, b: str, *, model: str = EMBEDDED, pooling: str | None = None) -> dict[str, Any]:
    """Return the cosine similarity of two texts, and its division among pairs of tokens.

    The result is that of ``headlight similar --json``. ``table`` has a row for each token of ``a`` (``tokens_a``) and a
    column for each token of ``b`` (``tokens_b``). Its numbers sum to ``cosine``, those of pairs with a special token to
    ``special_share``.

    ``pooling`` is named as in attention.similarity; by default it is the model's. Raise ValueError with a one-sentence
    message if a text cannot be read.
    """
    backend, name = shared_backend(model)
    return explain_similarity(backend, SimilarityRequest(name, a=a, b=b, pooling=pooling))


def explain_similarity(backend: LocalBackend, request: SimilarityRequest) -> dict[str, Any]:
    """Return the cosine similarity of two texts and its table as JSON values; may raise UserError."""
    answer = backend.inspect(request)
    return {
        "model": request.model,
        "pooling": answer.pooling,
        "cosine": answer.found.cosine,
        "special_share": answer.found.special_share(answer.row_a.special, answer.row_b.special),
        "tokens_a": list(answer.row_a.labels),
        "tokens_b": list(answer.row_b.labels),
        "table": answer.found.table.tolist(),
    }


def search_file(backend: LocalBackend, request: SimilarityRequest, file: Path, top: int) -> dict[str, Any]:
    """Return the ``top`` sentences of a file that are most similar to text A, as JSON values.

    Each hit has the ``number`` of the sentence in the file, the ``sentence``, and the fields of ``explain_similarity``.
    Raise CommandError or UserError if the file or a text cannot be read.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
    text = decoded_or_guessed(content)[0]
    found = parse_table(text) if is_table(file.name) else None
    texts = lines(text) if found is None else column(found, found.texts[0])
    pooling = backend.inspect(request).pooling
    search = SentenceSearch(request.a, Pooled(request.model, request.revision, texts, pooling=pooling), max(1, top))
    while search.done < search.steps:
        search.step(backend.inspect)
    hits = [
        {"number": at + 1, "sentence": texts[at], **explain_similarity(backend, replace(request, b=texts[at]))}
        for _cosine, at in search.hits
    ]
    return {"model": request.model, "pooling": pooling, "text": request.a, "sentences": len(texts), "hits": hits}


def add_parser(commands: Any) -> None:
    """Add the parser of ``headlight similar`` to the subparsers ``commands``."""
    parser = commands.add_parser(
        "similar",
        help="the token pairs that make two texts similar",
        usage="headlight similar A (B | --among FILE) [OPTION …]",
    )
    parser.add_argument("a", metavar="A", help="a text; - for a pipe")
    parser.add_argument("b", metavar="B", nargs="?", help="another text")
    parser.add_argument("--among", type=Path, metavar="FILE", help="search a file of sentences instead of B")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="sentences that a search returns (10)")
    parser.add_argument("--pooling", choices=POOLINGS, help="how token vectors become one; the model's own without it")
    add_result_options(parser, "the whole table")
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Print the cosine similarity of two texts with its largest pairs of tokens; return the exit status.

    Given a file of sentences instead of a second text, print the most similar sentences. If the options name a JSON
    file, write the full result into it.
    """
    if asked.json is not None:
        refuse_unwritable(asked.json)
    if (asked.b is None) == (asked.among is None):
        raise CommandError("Give either a second text or --among FILE.")
    backend, model = open_model(asked)
    a, b = (text_of(text) or "" for text in (asked.a, asked.b))
    if asked.among is not None:
        request = SimilarityRequest(model, asked.revision, a, a, asked.pooling)
        hits = search_file(backend, request, asked.among, asked.top)
        lines = (f"{hit['cosine']:.3f}  {hit['number']}  {hit['sentence']}" for hit in hits["hits"])
        return deliver_result(asked, hits, "\n".join(lines))
    found = explain_similarity(backend, SimilarityRequest(model, asked.revision, a, b, asked.pooling))
    return deliver_result(asked, found, summary(found))


def summary(found: dict[str, Any]) -> str:
    """Format the result as text: cosine similarity, share of special tokens, and largest pairs."""
    table = np.array(found["table"])
    lines = [
        f"cosine {found['cosine']:.3f}, pooling {found['pooling']};"
        f" pairs with a special token contribute {found['special_share']:.3f}"
    ]
    for place in np.argsort(-np.abs(table), axis=None)[:SHOWN]:
        row, column = np.unravel_index(place, table.shape)
        lines.append(f"  {table[row, column]:6.3f}  {found['tokens_a'][row]} · {found['tokens_b'][column]}")
    return "\n".join(lines)
