"""Sentences whose words were aligned by hand with their translation's: JSON, or tab-separated lines.

JSON: {"pairs": [{"source": "It's cold.", "target": "Il fait froid.", "source_words": "It's cold .", "target_words": …,
"links": "0-0 0?1 1-2 2-3"}, …]}. Words stand between spaces and make up the sentence; without them, the sentence's own
spaces part them. Lines: source, target and links, with a tab between them; words are what stands between spaces. Links
are source-target, counted from 0: "0-1" is sure, "0?1" is possible.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attention.aligned import HandAligned
from attention.links import Span
from inference.errors import Refusal
from inference.text.accepted import check_text
from probing.utf8 import decoded

EMBEDDED = Path(__file__).resolve().parent.parent / "assets" / "alignments" / "en-fr.json"
MOST = 2000  # pairs in a file
LINK = re.compile(r"([0-9]{1,4})([-?])([0-9]{1,4})")
FIELDS = ("source", "target", "links")
WORDS = ("source_words", "target_words")


@dataclass(frozen=True)
class Alignments:
    """Aligned pairs of sentences."""

    pairs: tuple[HandAligned, ...]
    digest: str  # SHA-256 of the file's content


def load(file: Path = EMBEDDED) -> Alignments:
    """The pairs that come with the app, or those of another file; raises Refusal where it cannot be read.

    >>> len(load().pairs)
    52
    """
    try:
        return parse(file.read_bytes())
    except OSError as error:
        raise Refusal(f"{file.name} cannot be read. Give the path of a file of aligned sentences.") from error


def parse(content: bytes) -> Alignments:
    """The pairs in a file's content; raises Refusal with the place that cannot be read.

    >>> parse("It rains\\tIl pleut\\t0-0 1-1 0?1".encode()).pairs[0].possible
    frozenset({(0, 1)})
    """
    text = decoded(content)
    stated = _from_json(text) if text.lstrip().startswith(("{", "[")) else _from_lines(text)
    pairs = tuple(_pair(place, at, fields) for place, at, fields in stated)
    if not pairs:
        raise Refusal("The file has no pair of sentences. Each needs a source, a target and links such as 0-0 1?2.")
    if len(pairs) > MOST:
        raise Refusal(f"The file has {len(pairs):,} pairs; at most {MOST:,} are scored. Bring a part of it.")
    return Alignments(pairs, hashlib.sha256(content).hexdigest())


Stated = Iterator[tuple[str, int, dict[str, Any]]]  # how the place is called, its number, the fields


def _from_lines(text: str) -> Stated:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        fields = line.rstrip("\r").split("\t")
        if len(fields) != len(FIELDS):
            raise Refusal(
                f"Line {number} has {len(fields)} fields; source, target and links were expected, a tab between them."
            )
        yield f"Line {number}", number, dict(zip(FIELDS, fields, strict=True))


def _from_json(text: str) -> Stated:
    try:
        stated = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError alone: a number of thousands of digits
        line = getattr(error, "lineno", 1)
        raise Refusal(f"The file begins like JSON, but line {line} cannot be read as such.") from error
    pairs = stated.get("pairs") if isinstance(stated, dict) else stated
    if not isinstance(pairs, list):
        raise Refusal('The file has no list "pairs". Each pair needs "source", "target" and "links".')
    for number, pair in enumerate(pairs, start=1):
        if not isinstance(pair, dict):
            raise Refusal(f'Pair {number} is no object with "source", "target" and "links".')
        yield f"Pair {number}", number, pair


def _pair(place: str, number: int, fields: dict[str, Any]) -> HandAligned:
    for name in FIELDS:
        if not isinstance(fields.get(name), str) or not fields[name].strip():
            raise Refusal(f'{place} has no "{name}"; a text was expected.')
    said = {name: fields[name] for name in (*FIELDS, *WORDS) if isinstance(fields.get(name), str)}
    fields = {**fields, **{name: check_text(text, f'"{name}" of {place.lower()}') for name, text in said.items()}}
    source, target = fields["source"], fields["target"]
    links = [_link(place, raw) for raw in fields["links"].split()]
    sure = frozenset(pair for pair, kind in links if kind == "-")
    try:
        return HandAligned(
            source,
            target,
            _words(place, source, fields.get("source_words", source)),
            _words(place, target, fields.get("target_words", target)),
            sure,
            frozenset(pair for pair, _ in links) - sure,
            number,
        )
    except Refusal:
        raise
    except ValueError as error:
        raise Refusal(f"{place}: {error}") from error


def _link(place: str, raw: str) -> tuple[tuple[int, int], str]:
    found = LINK.fullmatch(raw)
    if found is None:
        raise Refusal(f"{place} has a link “{raw[:40]}”; links read like 0-1, or 0?1 where they are only possible.")
    return (int(found[1]), int(found[3])), found[2]


def _words(place: str, sentence: str, words: object) -> tuple[Span, ...]:
    """Where each of the words stands; only space may stand between them."""
    if not isinstance(words, str):
        raise Refusal(f"{place} has words that are no text; write them with spaces between them.")
    spans, at = [], 0
    for word in words.split():
        while at < len(sentence) and sentence[at].isspace():
            at += 1
        if not sentence.startswith(word, at):
            raise Refusal(f"{place}: the word “{word[:40]}” does not come next in “{sentence[at : at + 40]}”.")
        spans.append((at, at + len(word)))
        at += len(word)
    if sentence[at:].strip():
        raise Refusal(f"{place}: no word covers “{sentence[at : at + 40].strip()}”.")
    return tuple(spans)
