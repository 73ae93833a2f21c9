"""The command ``headlight why`` and the function ``why``: the sources of an attention score.

A source is a part of the model that contributes to the query or the key of a score, such as an earlier head.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attention.head_names import head_label, parse_head
from attention.trace import Trace
from attention.view import DisplayToken, View
from headlight.command_input import (
    CommandError,
    add_result_options,
    add_text_options,
    deliver_result,
    open_model,
    read_picture,
    read_trace,
    refuse_unwritable,
    request_of,
    shared_backend,
)
from inference.backend import LocalBackend
from inference.request import EMBEDDED, TraceRequest
from inference.tasks.score_decomposition import PictureScoreRequest, ScoreAnswer, ScoreRequest

PATCH = re.compile(r"([0-9]+),([0-9]+)")  # row and column of a patch, from 1, as in the app
SHOWN = 3  # sources of each side in the printed summary


@dataclass(frozen=True)
class FoundToken:
    """The token that a command uses for a word typed by a user: the first token of the word.

    ``index`` and ``text`` are those of the token; ``tokens`` is the number of tokens of ``word``.
    """

    index: int
    text: str
    word: str
    tokens: int

    @property
    def note(self) -> str:
        """Return a note for the user if the word has several tokens, else ""."""
        return f'"{self.word}" has {self.tokens} tokens; "{self.text}" is used.' if self.tokens > 1 else ""


def find_token(tokens: Sequence[DisplayToken], words: Sequence[DisplayToken], name: str) -> FoundToken:
    """Return the token that ``name`` names: a word, its n-th occurrence ("it:2"), or the index of a token.

    In a picture, "2,4" is the patch in row 2 and column 4, counted from 1. If a word has several tokens, its first is
    returned. Raise CommandError if there is no such token.
    """
    if name.isascii() and name.isdigit():
        if int(name) >= len(tokens):
            raise CommandError(f"There is no token {name}; the tokens are 0 to {len(tokens) - 1}.")
        return FoundToken(int(name), tokens[int(name)].label, tokens[int(name)].label, 1)
    numbered = re.fullmatch(r"(.+):([1-9][0-9]{0,5})", name, re.DOTALL)
    options = [(name, 1)] + ([(numbered[1], int(numbered[2]))] if numbered else [])
    options += [(f"({patch[1]}, {patch[2]})", 1) for patch in [PATCH.fullmatch(name.replace(" ", ""))] if patch]
    for word, number in options:
        asked = word.strip().casefold()
        for cells in (words, tokens):
            found = [cell for cell in cells if asked in (cell.text.strip().casefold(), cell.label.casefold())]
            if len(found) >= number:
                start, stop = found[number - 1].pieces
                at = next(at for at, token in enumerate(tokens) if token.pieces[0] == start)
                return FoundToken(at, tokens[at].label, found[number - 1].text, stop - start)
    raise CommandError(
        f'"{name}" is not in the input. Give a word, its second occurrence as in it:2, a patch as in 2,4,'
        f" or the number of a token from 0 to {len(tokens) - 1}."
    )


def why(  # noqa: PLR0913  # the input, the head and its two words
    text: str,
    head: str,
    query: str | int,
    key: str | int,
    *,
    model: str = EMBEDDED,
    pair: str | None = None,
    target_text: str | None = None,
    part: str | None = None,
    revision: str | None = None,
    picture: str | Path | None = None,
) -> dict[str, Any]:
    """Return the exact terms of an attention score, and causal checks of its largest sources.

    A source is a part of the model that contributes to query or key. ``head`` is a name such as "3-1" (layer and head).
    ``query`` and ``key`` are words, such as "it" or "it:2", or token indices. ``part`` is "encoder", "decoder" or
    "cross". ``picture`` is an image file; ``text`` is then "", and patches are named by row and column, such as "2,4".

    The result is that of ``headlight why --json`` (docs/NOTEBOOK.md). Its ``terms`` sum to ``score``, and their
    ``centred`` values to ``score`` minus ``mean_over_keys``.

    Raise ValueError with a one-sentence message if the score cannot be decomposed.
    """
    backend, name = shared_backend(model)
    seen = None if picture is None else read_picture(Path(picture))
    request = TraceRequest(model=name, revision=revision, text=text, pair=pair, target=target_text, picture=seen)
    return explain_score(backend, read_trace(backend, request, False), request, head, str(query), str(key), part)


def explain_score(  # noqa: PLR0913  # the input, the head and its two words
    backend: LocalBackend, trace: Trace, request: TraceRequest, head: str, query: str, key: str, part: str | None
) -> dict[str, Any]:
    """Decompose an attention score; return its terms and the causal checks as JSON values.

    ``query`` and ``key`` are words or token indices, as a user types them. ``part`` is the stack, by default the
    trace's. May raise CommandError or UserError.
    """
    layer, number = read_head(head)
    if part is not None and part not in trace.parts:
        raise CommandError(f'This model has no part "{part}"; it has {", ".join(trace.parts)}.')
    stack = part or trace.part
    view = View(trace, part=stack)
    words = replace(view, words=True)
    row = find_token(view.queries, words.queries, query)
    column = find_token(view.keys, words.keys, key)
    answer = backend.inspect(
        _question(request, trace, part=stack, layer=layer, head=number, query_token=row.index, key_token=column.index)
    )
    return {
        "model": request.model,
        "text": request.text,
        "part": stack,
        "head": head_label(layer, number),
        "from": {"token": row.index, "text": row.text},
        "to": {"token": column.index, "text": column.text},
        "notes": [found.note for found in (row, column) if found.note],
        **_numbers(answer),
    }


def _question(request: TraceRequest, trace: Trace, **place: Any) -> ScoreRequest:
    """Return the request for the terms of a score of a trace; ``place`` has the head and the tokens."""
    if request.picture is not None:
        return PictureScoreRequest(request.model, request.revision, picture=request.picture, side=request.side, **place)
    return ScoreRequest(
        request.model,
        request.revision,
        text=request.text,
        pair=request.pair,
        target=() if trace.target is None else trace.target.ids,
        cut=len(trace.source) if trace.truncated else None,
        **place,
    )


def read_head(head: str) -> tuple[int, int]:
    """Return the layer and the head of a name such as "3-1"; raise CommandError for another text."""
    found = parse_head(head)
    if found is None:
        raise CommandError(f'"{head}" is not a head. Give layer and head, such as 3-1.')
    return found


def _numbers(answer: ScoreAnswer) -> dict[str, Any]:
    terms, centred = answer.terms, answer.terms.excess_terms
    return {
        "score": answer.score,
        "mean_over_keys": answer.mean_over_keys,
        "error": answer.error,
        "terms": [
            {
                "query_source": query,
                "key_source": key,
                "value": float(terms.values[row, column]),
                "centred": float(centred[row, column]),
            }
            for row, query in enumerate(terms.query_sources)
            for column, key in enumerate(terms.key_sources)
        ],
        "checks": [
            {
                "side": check.side,
                "source": check.source,
                "predicted": check.predicted,
                "measured": check.measured,
                "differs": check.differs,
            }
            for check in answer.checks
        ],
    }


def add_parser(commands: Any) -> None:
    """Add the parser of ``headlight why`` to the subparsers ``commands``."""
    parser = commands.add_parser(
        "why",
        help="the sources of an attention score",
        usage="headlight why TEXT --head 3-1 --from WORD --to WORD [OPTION …]",
        epilog="Layers, heads and tokens count from 0. A word is its first occurrence; it:2 is the second."
        " 2,4 is the patch in row 2 and column 4 of a picture, from 1.",
    )
    parser.add_argument("text", metavar="TEXT", nargs="?", help="the text of the model; - for a pipe")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="a PNG, JPEG or WebP file in place of a text")
    parser.add_argument("--head", metavar="L-H", required=True, help="layer and head, such as 3-1")
    parser.add_argument("--from", dest="query", metavar="WORD", required=True, help="the word that attends")
    parser.add_argument("--to", dest="key", metavar="WORD", required=True, help="the word that it attends to")
    parser.add_argument("--part", choices=("encoder", "decoder", "cross"), help="the stack of an encoder-decoder")
    add_text_options(parser)
    add_result_options(parser, "every term and check")
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Print the largest terms of an attention score, and return the exit status.

    A term is the part of the score that comes from a pair of sources, such as two heads. If the options name a file,
    write all terms into it.
    """
    if asked.json is not None:
        refuse_unwritable(asked.json)
    read_head(asked.head)  # refuses before the model is loaded
    if (asked.text is None) == (asked.picture is None):
        raise CommandError("Give a text or --picture FILE, and not both.")
    picture = None if asked.picture is None else read_picture(asked.picture)
    backend, model = open_model(asked)
    request = replace(request_of(asked, model), picture=picture)
    trace = read_trace(backend, request, asked.truncate)
    found = explain_score(backend, trace, request, asked.head, asked.query, asked.key, asked.part)
    return deliver_result(asked, found, summary(found))


def summary(found: dict[str, Any]) -> str:
    """Format the result as text: the score, the largest sources of query and key, their checks, and notes."""
    excess = found["score"] - found["mean_over_keys"]
    lines = [
        f"{found['from']['text']} → {found['to']['text']} in head {found['head']}: score {found['score']:.2f},"
        f" mean over the keys {found['mean_over_keys']:.2f}, excess {excess:.2f}"
    ]
    for side in ("query", "key"):
        checks = [check for check in found["checks"] if check["side"] == side]
        lines += [f"  {side:5}  {_check_line(check)}" for check in (*checks[:SHOWN], *checks[-1:])]
    return "\n".join([*lines, *found["notes"]])


def _check_line(check: dict[str, Any]) -> str:
    warning = "  differs by more than 20%" if check["differs"] else ""
    return f"{check['source']:12} {check['predicted']:6.2f}, if removed {check['measured']:6.2f}{warning}"
