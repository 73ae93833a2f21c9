"""The command ``headlight why-labels``: the sources of a head's scores, averaged over labelled links.

A source is a part of the model that contributes to the query or the key of a score.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from attention.head_names import head_label
from headlight.command_input import (
    CommandError,
    add_result_options,
    deliver_result,
    open_model,
    refuse_unwritable,
    shared_backend,
)
from headlight.score_command import SHOWN, read_head
from inference.backend import LocalBackend
from inference.request import EMBEDDED
from probing import formats
from probing.score_sources import DirectionReport, MeanTerm, SourceReport, SourceRun, decompose_links

DIRECTIONS = ("out", "in")  # a link's source attends to its target, or the target to the source


def why_labels(  # noqa: PLR0913  # the file, the head and its links
    file: str | Path,
    head: str,
    relation: str,
    *,
    format: str = "conllu",
    direction: str | None = None,
    model: str = EMBEDDED,
    revision: str | None = None,
) -> dict[str, Any]:
    """Decompose a head's scores over all links of a relation, and return the mean contribution of each source.

    A source is a part of the model that contributes to query or key. The result also has the percentage of links that
    the head finds with contrastive directions alone (attention.contrastive). It is that of ``headlight why-labels
    --json`` (docs/WHY.md).

    ``file`` has sentences with labelled links, in the format "conllu", "gap" or "csv". ``direction`` is "out" if a
    link's source attends to its target, and "in" for the reverse; by default, the direction in which the head finds
    more links.

    Raise ValueError with a one-sentence message if the scores cannot be decomposed.
    """
    backend, name = shared_backend(model)
    return explain_labels(backend, Path(file), format, head, relation, direction, name, revision)


def explain_labels(  # noqa: PLR0913  # the file, the head and its links
    backend: LocalBackend,
    file: Path,
    format: str,
    head: str,
    relation: str,
    direction: str | None,
    model: str,
    revision: str | None,
) -> dict[str, Any]:
    """Decompose a head's scores over the links in a file; return the result of ``why_labels``.

    May raise CommandError or UserError.
    """
    layer, number = read_head(head)
    if direction is not None and direction not in DIRECTIONS:
        raise CommandError(f'The direction is "out" or "in"; got "{direction}".')
    corpus = formats.load(file, format)
    run = SourceRun(
        corpus, relation, layer, number, model, revision, None if direction is None else DIRECTIONS.index(direction)
    )
    return _numbers(run, decompose_links(backend, run), file.name)


def _numbers(run: SourceRun, found: SourceReport, file: str) -> dict[str, Any]:
    def term(one: MeanTerm) -> dict[str, Any]:
        return {name: value for name, value in asdict(one).items() if value != ""}

    return {
        "model": run.model,
        "file": file,
        "relation": found.relation,
        "direction": DIRECTIONS[found.direction],
        "head": head_label(run.layer, run.head),
        "links": found.links,
        "sentences": found.sentences,
        "left_out": found.left_out,
        "score": found.score,
        "mean_over_keys": found.mean_over_keys,
        "centred": term(found.excess),
        "query_sources": [term(one) for one in found.query],
        "key_sources": [term(one) for one in found.key],
        "error": found.error,
        "directions": None if found.directions is None else _direction_numbers(found.directions),
    }


def _direction_numbers(found: DirectionReport) -> dict[str, Any]:
    scores = [
        {**asdict(score), "shuffled": dict(zip(("low", "median", "high"), score.shuffled, strict=True))}
        for score in found.scores
    ]
    return {**asdict(found), "scores": scores}


def add_parser(commands: Any) -> None:
    """Add the parser of ``headlight why-labels`` to the subparsers ``commands``."""
    parser = commands.add_parser(
        "why-labels",
        help="the mean sources of a head's scores over annotated links",
        usage="headlight why-labels FILE --head 3-1 --relation nsubj [OPTION …]",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="annotated sentences")
    parser.add_argument("--head", metavar="L-H", required=True, help="layer and head, such as 3-1")
    parser.add_argument("--relation", metavar="NAME", required=True, help="a relation of the file, such as nsubj")
    known = "; ".join(f"{name}: {what}" for name, what in formats.NAMES.items())
    parser.add_argument("--format", choices=list(formats.FORMATS), default="conllu", help=known)
    parser.add_argument(
        "--direction", choices=DIRECTIONS,
        help="out: a link's source attends to its target; in: the opposite; without it, the head's better direction",
    )  # fmt: skip
    add_result_options(parser, "every number")
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Print the sources with the largest mean contributions to a head's scores; return the exit status.

    The contrastive directions (attention.contrastive) are printed, too. If the options name a file, write all sources
    into it.
    """
    if asked.json is not None:
        refuse_unwritable(asked.json)
    read_head(asked.head)  # refuses before the model is loaded
    backend, model = open_model(asked)
    found = explain_labels(
        backend, asked.file, asked.format, asked.head, asked.relation, asked.direction, model, asked.revision
    )
    return deliver_result(asked, found, summary(found))


def summary(found: dict[str, Any]) -> str:
    """Format the result as text: mean score, largest sources of query and key, and contrastive directions."""
    lines = [
        f"{found['relation']} in head {found['head']}, {found['direction']}: mean score {found['score']:.2f}, mean over"
        f" the keys {found['mean_over_keys']:.2f}, difference {_interval(found['centred'])};"
        f" {found['links']:,} links in {found['sentences']:,} sentences, {found['left_out']:,} left out"
    ]
    for side in ("query", "key"):
        lines += [f"  {side:5}  {one['source']:12} {_interval(one)}" for one in found[f"{side}_sources"][:SHOWN]]
    directions = found["directions"]
    if directions is None:
        return "\n".join([*lines, "There are too few links for contrastive directions."])
    lines.append(
        f"Contrastive directions of {directions['selected']:,} links, on {directions['links']:,} links of other"
        f" sentences: the head finds {directions['head']:.1f}%, the rule “{directions['rule_name']}”"
        f" {directions['rule']:.1f}%, chance {directions['chance']:.1f}%"
    )
    return "\n".join([*lines, *map(_direction_line, directions["scores"])])


def _interval(term: dict[str, Any]) -> str:
    return f"{term['mean']:6.2f} [{term['low']:.2f}, {term['high']:.2f}]"


def _direction_line(score: dict[str, Any]) -> str:
    shuffled = score["shuffled"]
    return (
        f"  {score['directions']} directions find {score['found']:.1f}% [{score['low']:.1f}, {score['high']:.1f}];"
        f" with shuffled labels {shuffled['median']:.1f}% ({shuffled['low']:.1f} to {shuffled['high']:.1f});"
        f" p = {score['p_shuffled']:.2g} against these, {score['p_rule']:.2g} against the rule"
    )
