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

from attention.alignment_scores import HandAligned
from attention.annotations import Span
from i18n import error_message, gettext_lazy
from inference.errors import UserError
from inference.text.validation import check_text
from probing.delimited import is_json
from probing.utf8 import decoded_or_guessed

EMBEDDED = Path(__file__).resolve().parent.parent / "assets" / "alignments" / "en-fr.json"
MOST = 2000  # pairs in a file
LINK = re.compile(r"([0-9]{1,4})([-?])([0-9]{1,4})")
FIELDS = ("source", "target", "links")
WORDS = ("source_words", "target_words")


@dataclass(frozen=True)
class Alignments:
    """Aligned pairs of sentences."""

    pairs: tuple[HandAligned, ...]
    digest: str  # SHA-256 of the encoding, if it was named, and the file's content


def load(file: Path = EMBEDDED) -> Alignments:
    """The pairs that come with the app, or those of another file; raises Refusal where it cannot be read.

    >>> len(load().pairs)
    52
    """
    try:
        return parse(file.read_bytes())
    except OSError as error:
        raise UserError(
            gettext_lazy("{name} cannot be read. Give the path of a file of aligned sentences.", name=file.name)
        ) from error


def parse(content: bytes, encoding: str = "") -> Alignments:
    """The pairs in a file's content; raises Refusal with the place that cannot be read.

    >>> parse("It rains\\tIl pleut\\t0-0 1-1 0?1".encode()).pairs[0].possible
    frozenset({(0, 1)})
    """
    text, _ = decoded_or_guessed(content, encoding)
    stated = _from_json(text) if text.lstrip().startswith(("{", "[")) else _from_lines(text)
    pairs = tuple(_pair(kind, at, fields) for kind, at, fields in stated)
    if not pairs:
        raise UserError(
            gettext_lazy("The file has no pair of sentences. Each needs a source, a target and links such as 0-0 1?2.")
        )
    if len(pairs) > MOST:
        raise UserError(
            gettext_lazy(
                "The file has {pairs:,} pairs; at most {most:,} are scored. Bring a part of it.",
                pairs=len(pairs),
                most=MOST,
            )
        )
    return Alignments(pairs, hashlib.sha256(encoding.encode() + content).hexdigest())


Stated = Iterator[tuple[str, int, dict[str, Any]]]  # "line" or "pair", its number, the fields


def _from_lines(text: str) -> Stated:
    numbered = ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())
    for at, (number, line) in enumerate(numbered):
        fields = line.split("\t")
        if len(fields) != len(FIELDS):
            raise UserError(
                gettext_lazy(
                    "Line {number} has {fields} fields; source, target and links were expected, a tab between them.",
                    number=number,
                    fields=len(fields),
                )
            )
        if at or tuple(field.strip().lower() for field in fields) != FIELDS:  # the first row may name the columns
            yield "line", number, dict(zip(FIELDS, fields, strict=True))


def _from_json(text: str) -> Stated:
    numbered = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    parts = numbered if len(numbered) > 1 and is_json(numbered[0][1]) else [(1, text)]
    values = [_json_value(number, part) for number, part in parts]
    stated = values if len(parts) > 1 else values[0]
    pairs = stated.get("pairs") if isinstance(stated, dict) else stated
    if not isinstance(pairs, list):
        raise UserError(gettext_lazy('The file has no list "pairs". Each pair needs "source", "target" and "links".'))
    for number, pair in enumerate(pairs, start=1):
        if not isinstance(pair, dict):
            raise UserError(
                gettext_lazy('Pair {number} is no object with "source", "target" and "links".', number=number)
            )
        yield "pair", number, pair


def _json_value(first: int, text: str) -> Any:
    """Return the value of JSON that begins in line ``first``; raise Refusal with the line of an error."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError alone: a number of thousands of digits
        line = first + getattr(error, "lineno", 1) - 1
        raise UserError(
            gettext_lazy("The file begins like JSON, but line {line} cannot be read as such.", line=line)
        ) from error


def _sentence_start(kind: str, number: int) -> str:
    """How a sentence begins that says something of a place."""
    return (
        gettext_lazy("Line {number}", number=number) if kind == "line" else gettext_lazy("Pair {number}", number=number)
    )


def _place_phrase(kind: str, number: int) -> str:
    """The same inside a sentence."""
    return (
        gettext_lazy("line {number}", number=number) if kind == "line" else gettext_lazy("pair {number}", number=number)
    )


def _pair(kind: str, number: int, fields: dict[str, Any]) -> HandAligned:
    place, within = _sentence_start(kind, number), _place_phrase(kind, number)
    for name in FIELDS:
        if not isinstance(fields.get(name), str) or not fields[name].strip():
            raise UserError(gettext_lazy('{place} has no "{name}"; a text was expected.', place=place, name=name))
    said = {name: fields[name] for name in (*FIELDS, *WORDS) if isinstance(fields.get(name), str)}
    for name, text in said.items():
        fields = {**fields, name: check_text(text, gettext_lazy('"{name}" of {place}', name=name, place=within))}
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
    except UserError:
        raise
    except ValueError as error:
        raise UserError(gettext_lazy("{place}: {said}", place=place, said=error_message(error))) from error


def _link(place: str, raw: str) -> tuple[tuple[int, int], str]:
    found = LINK.fullmatch(raw)
    if found is None:
        raise UserError(
            gettext_lazy(
                "{place} has a link “{raw}”; links read like 0-1, or 0?1 where they are only possible.",
                place=place,
                raw=raw[:40],
            )
        )
    return (int(found[1]), int(found[3])), found[2]


def _words(place: str, text: str, words: object) -> tuple[Span, ...]:
    """Where each of the words stands; only space may stand between them."""
    if not isinstance(words, str):
        raise UserError(
            gettext_lazy("{place} has words that are no text; write them with spaces between them.", place=place)
        )
    spans, at = [], 0
    for word in words.split():
        while at < len(text) and text[at].isspace():
            at += 1
        if not text.startswith(word, at):
            raise UserError(
                gettext_lazy(
                    "{place}: the word “{word}” does not come next in “{text}”.",
                    place=place,
                    word=word[:40],
                    text=text[at : at + 40],
                )
            )
        spans.append((at, at + len(word)))
        at += len(word)
    if text[at:].strip():
        raise UserError(gettext_lazy("{place}: no word covers “{rest}”.", place=place, rest=text[at : at + 40].strip()))
    return tuple(spans)
