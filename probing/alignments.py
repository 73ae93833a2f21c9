"""Hand-aligned sentence pairs, and the score of every cross-attention head on them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from attention.alignment import (
    AlignmentCounts,
    CrossRowConvention,
    HandAligned,
    Numbers,
    by_chance,
    by_diagonal,
    count,
    strongest_sources,
    total,
)
from attention.annotations import Span
from attention.trace import Trace
from i18n import error_message, gettext_lazy
from inference.errors import UserError
from inference.request import TraceRequest
from inference.text.encoding import check_text, explain_unreadable
from probing.corpus import HALVES
from probing.delimited import is_json
from probing.statistics import sign_flip_test, verdict, wilson
from probing.text_files import decoded_or_guessed

EMBEDDED = Path(__file__).resolve().parent.parent / "assets" / "alignments" / "en-fr.json"
MOST = 2000  # maximal number of sentence pairs in a file
LINK = re.compile(r"([0-9]{1,4})([-?])([0-9]{1,4})")
FIELDS = ("source", "target", "links")
WORDS = ("source_words", "target_words")


@dataclass(frozen=True)
class Alignments:
    """The sentence pairs of a file with their word alignments."""

    pairs: tuple[HandAligned, ...]
    digest: str  # SHA-256 of the requested encoding (or "") and the file's content


@cache
def load(file: Path = EMBEDDED) -> Alignments:
    """Load the bundled sentence pairs or those of another file; raise UserError if it cannot be read.

    >>> len(load().pairs)
    52
    """
    try:
        return parse(file.read_bytes())
    except OSError as error:
        raise UserError(
            gettext_lazy(
                "{file} cannot be read: {reason}. Give another path.",
                file=file.name,
                reason=error.strerror or type(error).__name__,
            )
        ) from error


def parse(content: bytes, encoding: str = "") -> Alignments:
    """Parse an alignment file: sentence pairs and the links between their words.

    ``content`` is JSON, JSON Lines, or lines of source, target and links with tabs in between. If ``encoding`` is "",
    it is guessed. Raise UserError with the place of an error.

    >>> parse("It rains\\tIl pleut\\t0-0 1-1 0?1".encode()).pairs[0].possible
    frozenset({(0, 1)})
    """
    text, _ = decoded_or_guessed(content, encoding)
    stated = _from_json(text) if text.lstrip().startswith(("{", "[")) else _from_lines(text)
    pairs = tuple(_pair(kind, at, fields) for kind, at, fields in stated)
    if not pairs:
        raise UserError(gettext_lazy("The file has no pairs. Each needs a source, a target and links such as 0-0 1?2."))
    if len(pairs) > MOST:
        raise UserError(
            gettext_lazy(
                "The file has {pairs:,} pairs; the limit is {most:,}. Split it.",
                pairs=len(pairs),
                most=MOST,
            )
        )
    return Alignments(pairs, hashlib.sha256(encoding.encode() + content).hexdigest())


Stated = Iterator[tuple[str, int, dict[str, Any]]]  # ("line" or "pair", number, fields)


def _from_lines(text: str) -> Stated:
    numbered = ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())
    for at, (number, line) in enumerate(numbered):
        fields = line.split("\t")
        if len(fields) != len(FIELDS):
            raise UserError(
                gettext_lazy(
                    "Line {number} has {fields} fields; expected source, target and links, a tab between them.",
                    number=number,
                    fields=len(fields),
                )
            )
        if at or tuple(field.strip().lower() for field in fields) != FIELDS:  # the first line may be a header
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
            raise UserError(gettext_lazy('Pair {number} lacks "source", "target" and "links".', number=number))
        yield "pair", number, pair


def _json_value(first: int, text: str) -> Any:
    """Parse JSON that begins in line ``first``; raise UserError with the line of an error."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # a plain ValueError is a number with thousands of digits
        line = first + getattr(error, "lineno", 1) - 1
        raise UserError(gettext_lazy("Line {line} is not valid JSON.", line=line)) from error


def _sentence_start(kind: str, number: int) -> str:
    """Return the name of a place in a file for the start of a sentence."""
    return (
        gettext_lazy("Line {number}", number=number) if kind == "line" else gettext_lazy("Pair {number}", number=number)
    )


def _place_phrase(kind: str, number: int) -> str:
    """Return the name of a place in a file for the middle of a sentence."""
    return (
        gettext_lazy("line {number}", number=number) if kind == "line" else gettext_lazy("pair {number}", number=number)
    )


def _pair(kind: str, number: int, fields: dict[str, Any]) -> HandAligned:
    place, within = _sentence_start(kind, number), _place_phrase(kind, number)
    for name in FIELDS:
        if not isinstance(fields.get(name), str) or not fields[name].strip():
            raise UserError(gettext_lazy("{place} has no text “{key}”. Add it.", place=place, key=name))
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
        raise UserError(gettext_lazy("{name}: {text}", name=place, text=error_message(error))) from error


def _link(place: str, raw: str) -> tuple[tuple[int, int], str]:
    found = LINK.fullmatch(raw)
    if found is None:
        raise UserError(
            gettext_lazy(
                "{place} has a link “{raw}”; expected 0-1, or 0?1 if only possible.",
                place=place,
                raw=raw[:40],
            )
        )
    return (int(found[1]), int(found[3])), found[2]


def _words(place: str, text: str, words: object) -> tuple[Span, ...]:
    """Return the span of each word in a text; raise UserError unless only spaces separate the words."""
    if not isinstance(words, str):
        raise UserError(gettext_lazy("The words of {place} are not a text; separate them by spaces.", place=place))
    spans, at = [], 0
    for word in words.split():
        while at < len(text) and text[at].isspace():
            at += 1
        if not text.startswith(word, at):
            raise UserError(
                gettext_lazy(
                    "{place}: the word “{word}” is not next in “{text}”.",
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


CHUNK = 8  # sentence pairs per request to the backend
READINGS = tuple(CrossRowConvention)
SKIPPED = ("text", "cut")  # ``way_out`` values of errors that concern a single text


class TraceSource(Protocol):
    """A protocol for backends that run a model on sentence pairs and return its attention."""

    def traces(self, requests: Sequence[TraceRequest]) -> list[Trace]:
        """Return the attention of a model on each requested text, in the order of the requests."""
        ...


@dataclass(frozen=True)
class AlignmentRun:
    """The sentence pairs and the model whose cross-attention heads are scored on them."""

    alignments: Alignments
    model: str
    revision: str | None = None

    @property
    def key(self) -> str:
        """Return the SHA-256 of the sentences, the model and the chunk size, which identifies saved progress."""
        stated = [self.alignments.digest, self.model, self.revision, CHUNK]
        return hashlib.sha256(json.dumps(stated).encode()).hexdigest()

    def chunks(self) -> list[list[tuple[int, HandAligned]]]:
        """Return the sentence pairs with their indices, in lists of at most ``CHUNK`` pairs."""
        pairs = list(enumerate(self.alignments.pairs))
        return [pairs[start : start + CHUNK] for start in range(0, len(pairs), CHUNK)]


@dataclass(frozen=True, eq=False)
class BestHead:
    """The head that aligns best on one half of the sentence pairs, with its scores on the other half.

    ``share`` is the percentage of linked target words whose most attended source word is a manual link, sure or
    possible. ``diagonal`` and ``chance`` are the percentages of two baselines on the same words.
    """

    layer: int
    head: int
    share: float
    low: float  # ends of the 95 % interval of the share
    high: float
    words: int  # linked target words in the evaluation half
    error: float  # alignment error rate, 0 to 1
    diagonal: float  # share of the baseline that picks the source word at the same relative position
    chance: float  # share of a random source word
    diagonal_error: float
    p: float  # two-sided paired test against the diagonal baseline, paired by sentence pair
    sentences: int  # sentence pairs of this test

    @property
    def verdict(self) -> str:
        """Return the result of the test of the head against the diagonal baseline, by correctly aligned words.

        The result is "more" or "less" if the difference is significant, else "not clearly more".
        """
        return verdict(self.p, self.share - self.diagonal)


@dataclass(frozen=True, eq=False)
class AlignmentState:
    """The progress of a run, and the counts of correctly aligned target words so far.

    All mappings have the keys 0 and 1, for the two halves of the sentence pairs. ``heads`` has the counts of each head,
    shape (convention, layer, head). The convention is the choice of the decoder step whose row belongs to a target word
    (CrossRowConvention). ``diagonal`` and ``chance`` have the counts of the two baselines. ``gains`` has an array for
    each sentence pair: a head's correct words minus those of the diagonal baseline, shape (convention, layer, head).
    """

    done: int = 0  # finished chunks
    scored: int = 0  # scored pairs
    skipped: int = 0  # unreadable pairs
    reason: str = ""  # reason of the last skipped pair
    heads: Mapping[int, AlignmentCounts] = field(default_factory=dict)
    diagonal: Mapping[int, AlignmentCounts] = field(default_factory=dict)
    chance: Mapping[int, AlignmentCounts] = field(default_factory=dict)
    gains: Mapping[int, tuple[Numbers, ...]] = field(default_factory=dict)

    def all(self) -> AlignmentCounts:
        """Return the counts of every head over all sentences, shape (convention, layer, head)."""
        return total(list(self.heads.values()))

    def best(self, read_at: CrossRowConvention) -> BestHead | None:
        """Choose the head with the most correct words on half 0, and return its scores on half 1.

        Return None until both halves have results. ``read_at`` is the choice of the decoder step whose row belongs to a
        target word.
        """
        if len(self.heads) < HALVES:
            return None
        at = READINGS.index(read_at)
        choosing, reporting = self.heads[0].share[at], self.heads[1]
        layer, head = np.unravel_index(int(choosing.argmax()), choosing.shape)
        place = (at, int(layer), int(head))
        found, words = int(reporting.found[place]), int(reporting.words[place])
        low, high = wilson(found, words)
        gains = np.array([pair[place] for pair in self.gains[1]]).astype(np.int64)[:, None]
        return BestHead(
            int(layer),
            int(head),
            100 * float(reporting.share[place]),
            low,
            high,
            words,
            float(reporting.error[place]),
            100 * float(self.diagonal[1].share),
            100 * float(self.chance[1].share),
            float(self.diagonal[1].error),
            float(sign_flip_test(gains)[0]),
            len(gains),
        )


def advance(backend: TraceSource, run: AlignmentRun, state: AlignmentState) -> AlignmentState:
    """Score the next chunk of sentence pairs and return the new state.

    Sentence pairs that the model cannot read are skipped; raise any other UserError of the backend.
    """
    chunk = run.chunks()[state.done]
    read, reason = _traces(backend, run, chunk)
    heads, diagonal, chance = dict(state.heads), dict(state.diagonal), dict(state.chance)
    gains = dict(state.gains)
    for number, pair, trace in read:
        half = number % HALVES
        by_heads, by_place = count(pair, strongest_sources(trace, pair)), by_diagonal(pair)
        gains[half] = (*gains.get(half, ()), by_heads.found - by_place.found)
        for counts, new in ((heads, by_heads), (diagonal, by_place), (chance, by_chance(pair))):
            counts[half] = counts[half] + new if half in counts else new
    return replace(
        state,
        done=state.done + 1,
        scored=state.scored + len(read),
        skipped=state.skipped + len(chunk) - len(read),
        reason=reason or state.reason,
        heads=heads,
        diagonal=diagonal,
        chance=chance,
        gains=gains,
    )


def _traces(
    backend: TraceSource, run: AlignmentRun, chunk: Sequence[tuple[int, HandAligned]]
) -> tuple[list[tuple[int, HandAligned, Trace]], str]:
    """Return the traces of a chunk, and the reason of the last skipped pair ("" if none was skipped)."""
    asked = [TraceRequest(run.model, pair.source, target=pair.target, revision=run.revision) for _, pair in chunk]
    try:
        traces = backend.traces(asked)
        return _keep_known([(number, pair, trace) for (number, pair), trace in zip(chunk, traces, strict=True)], "")
    except UserError as refusal:
        if refusal.way_out not in SKIPPED:
            raise
    read, reason = [], ""
    for (number, pair), request in zip(chunk, asked, strict=True):
        try:
            read.append((number, pair, backend.traces([request])[0]))
        except UserError as refusal:
            if refusal.way_out not in SKIPPED:
                raise
            reason = refusal.message
    return _keep_known(read, reason)


def _keep_known(
    read: list[tuple[int, HandAligned, Trace]], reason: str
) -> tuple[list[tuple[int, HandAligned, Trace]], str]:
    """Return the pairs with known words only, and the reason of the last skipped pair."""
    kept = []
    for number, pair, trace in read:
        rows = [row for row in (trace.source, trace.target) if row is not None and row.unreadable()]
        if rows:
            reason = explain_unreadable(rows[0], trace.model.name)
        else:
            kept.append((number, pair, trace))
    return kept, reason
